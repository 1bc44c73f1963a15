"""One process, which is the first."""


def is_torch_dist_rank_zero():
    return True

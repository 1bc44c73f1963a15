"""torch.utils._pytree over nested tuples, named tuples, lists and dictionaries."""


def tree_map(func, tree, *rests, is_leaf=None):
    """torch.utils._pytree.tree_map."""
    if is_leaf is not None and is_leaf(tree):
        return func(tree, *rests)
    if isinstance(tree, dict):
        return type(tree)(
            (key, tree_map(func, tree[key], *(each[key] for each in rests), is_leaf=is_leaf)) for key in tree
        )
    if isinstance(tree, (list, tuple)):
        made = [tree_map(func, *parts, is_leaf=is_leaf) for parts in zip(tree, *rests)]
        return type(tree)(*made) if hasattr(tree, "_fields") else type(tree)(made)
    return tree if tree is None else func(tree, *rests)


def tree_map_only(kind, func, tree, is_leaf=None):
    """torch.utils._pytree.tree_map_only: only leaves of that type."""
    return tree_map(lambda leaf: func(leaf) if isinstance(leaf, kind) else leaf, tree, is_leaf=is_leaf)


def tree_leaves(tree, is_leaf=None):
    """torch.utils._pytree.tree_leaves."""
    leaves = []
    tree_map(leaves.append, tree, is_leaf=is_leaf)
    return leaves


def tree_flatten(tree, is_leaf=None):
    """torch.utils._pytree.tree_flatten: the leaves, and the tree itself to put others into."""
    return tree_leaves(tree, is_leaf), tree


def tree_unflatten(leaves, treespec):
    """torch.utils._pytree.tree_unflatten: the leaves in the form of the tree."""
    if isinstance(leaves, dict):
        leaves, treespec = treespec, leaves  # the order of the arguments changed between versions of torch
    remaining = iter(leaves)
    return tree_map(lambda leaf: next(remaining), treespec)


def undecorated(fn=None, *args, **kwargs):
    """A decorator that means nothing here, with or without arguments."""
    return fn if callable(fn) else lambda function: function

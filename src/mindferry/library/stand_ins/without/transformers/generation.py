"""No network here generates: of the settings of generation, the names that old configurations have among their own."""


class GenerationConfig:
    """Settings of generation, which nothing here reads."""

    @staticmethod
    def _get_default_generation_params():
        names = (
            "max_length min_length do_sample use_cache early_stopping num_beams temperature top_k top_p typical_p "
            "repetition_penalty length_penalty no_repeat_ngram_size encoder_no_repeat_ngram_size bad_words_ids "
            "num_return_sequences output_scores return_dict_in_generate forced_bos_token_id forced_eos_token_id "
            "remove_invalid_values exponential_decay_length_penalty suppress_tokens begin_suppress_tokens epsilon_cutoff "
            "eta_cutoff encoder_repetition_penalty num_assistant_tokens num_assistant_tokens_schedule "
            "assistant_confidence_threshold assistant_lookbehind target_lookbehind num_beam_groups diversity_penalty"
        )
        return dict.fromkeys(names.split())

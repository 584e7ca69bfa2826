package duckdb

import "strings"

// allowedFunctions are the functions that statements may use: those of which somebody looked at what they do and how much memory they take,
// of the version of DuckDB that is built in. All others are refused: those that tell of the machine or change something, those that make a value of any
// length of a number, and aggregates whose memory DuckDB does not count against its limit and that take much for each group
// (approx_quantile, approx_top_k, reservoir_quantile, mode, entropy, histogram, bitstring_agg), and those whose time grows with the square of what they
// are given (levenshtein, jaccard and the like).
var allowedFunctions = setOf(`
	!__postfix !~~ !~~* % & && * ** + - ->> / // <-> << <=> <@ >> @ @> ^ ^@ abs acos acosh add age aggregate apply
	array_aggr array_aggregate array_apply array_cat array_concat array_contains array_cosine_distance
	array_cosine_similarity array_cross_product array_distance array_distinct array_dot_product array_extract array_filter
	array_grade_up array_has array_has_all array_has_any array_indexof array_inner_product array_intersect array_length
	array_negative_dot_product array_negative_inner_product array_position array_reduce array_reverse_sort
	array_slice array_sort array_to_json array_transform array_unique array_value array_where array_zip ascii asin asinh
	atan atan2 atanh base64 bin bit_count bit_length bit_position cardinality cbrt ceil ceiling century char_length
	character_length chr concat concat_ws contains cos cosh cot current_date current_localtime current_localtimestamp
	date_diff date_part date_sub date_trunc datediff datepart datesub datetrunc day dayname dayofmonth
	dayofweek dayofyear decade decode degrees divide element_at encode ends_with epoch epoch_ms epoch_ns epoch_us
	era error even exp factorial filter flatten floor format formatreadabledecimalsize formatreadablesize format_bytes
	from_base64 from_binary from_hex gamma gcd gen_random_uuid get_bit get_current_time get_current_timestamp grade_up
	greatest greatest_common_divisor hamming hash hex hour ilike_escape instr isfinite isinf isnan isodow isoyear 
	json_array json_array_length json_contains json_exists json_extract
	json_extract_path json_extract_path_text json_extract_string json_keys json_merge_patch json_object json_pretty
	json_quote json_structure json_type json_valid json_value julian last_day lcase lcm least least_common_multiple left
	left_grapheme len length length_grapheme lgamma like_escape list_aggr list_aggregate list_apply list_cat
	list_concat list_contains list_cosine_distance list_cosine_similarity list_distance list_distinct list_dot_product
	list_element list_extract list_filter list_grade_up list_has list_has_all list_has_any list_indexof list_inner_product
	list_intersect list_negative_dot_product list_negative_inner_product list_pack list_position list_reduce
	list_reverse_sort list_slice list_sort list_transform list_unique list_value list_where list_zip ln log
	log10 log2 lower lpad ltrim make_date make_time make_timestamp make_timestamp_ms make_timestamp_ns make_timestamptz map
	map_concat map_contains map_entries map_extract map_extract_value map_from_entries map_keys map_values md5 md5_number
	microsecond millennium millisecond minute mismatches mod month monthname multiply nanosecond nextafter nfc_normalize
	normalized_interval not_ilike_escape not_like_escape now octet_length ord parse_filename parse_formatted_bytes pi
	position pow power prefix printf quarter radians random reduce regexp_escape regexp_extract regexp_extract_all
	regexp_full_match regexp_matches regexp_replace regexp_split_to_array repeat replace reverse right right_grapheme round
	row row_to_json rpad rtrim second sha1 sha256 sign signbit sin sinh split sqrt starts_with str_split str_split_regex
	strftime string_split string_split_regex string_to_array strip_accents strlen strpos strptime struct_concat
	struct_contains struct_extract struct_extract_at struct_has struct_indexof struct_insert struct_keys struct_pack
	struct_position struct_update struct_values substr substring substring_grapheme subtract suffix tan tanh time_bucket
	timezone timezone_hour timezone_minute to_base to_base64 to_binary to_centuries to_days to_decades to_hex to_hours
	to_json to_microseconds to_millennia to_milliseconds to_minutes to_months to_quarters to_seconds to_timestamp to_weeks
	to_years today transaction_timestamp translate trim trunc try_strptime typeof ucase unbin unhex unicode upper url_decode
	url_encode uuid uuid_extract_timestamp uuid_extract_version uuidv4 uuidv7 version week weekday weekofyear xor year
	yearweek | || ~ ~~ ~~* ~~~ -> unnest
`, `
	any_value approx_count_distinct arbitrary arg_max arg_max_null arg_max_nulls_last arg_min arg_min_null
	arg_min_nulls_last argmax argmin array_agg avg bit_and bit_or bit_xor bool_and bool_or corr count count_if count_star
	countif covar_pop covar_samp cume_dist dense_rank favg fill first first_value fsum group_concat kahan_sum kurtosis
	kurtosis_pop lag last last_value lead list listagg mad max max_by mean median min min_by nth_value ntile percent_rank
	product quantile quantile_cont quantile_disc rank rank_dense regr_avgx regr_avgy regr_count regr_intercept regr_r2
	regr_slope regr_sxx regr_sxy regr_syy row_number sem skewness stddev stddev_pop stddev_samp string_agg sum
	sum_no_overflow sumkahan var_pop var_samp variance
`, `
	ago array_append array_pop_back array_pop_front array_prepend array_push_back array_push_front array_reverse
	array_to_string current_catalog current_database current_schema current_user date_add days_in_month fdiv fmod geomean
	geometric_mean json_group_array json_group_object list_any_value list_append list_approx_count_distinct list_avg
	list_bit_and list_bit_or list_bit_xor list_bool_and list_bool_or list_count list_entropy list_first list_histogram
	list_kurtosis list_kurtosis_pop list_last list_mad list_max list_median list_min list_mode list_prepend list_product
	list_reverse list_sem list_skewness list_stddev_pop list_stddev_samp list_string_agg list_sum list_var_pop list_var_samp
	map_contains_entry map_contains_value md5_number_lower md5_number_upper nullif round_even roundbankers session_user
	split_part user wavg weighted_avg
`, `
	address histogram_quantile
`)

// setOf is the set of the words of texts.
func setOf(texts ...string) map[string]bool {
	set := map[string]bool{}
	for _, text := range texts {
		for _, word := range strings.Fields(text) {
			set[word] = true
		}
	}
	return set
}

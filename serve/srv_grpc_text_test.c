// SPDX-License-Identifier: Apache-2.0
// Tests of gRPC's headers.

#include "srv_grpc_text.h"

#include "ln_check.h"

START_TEST(timeouts_have_digits_and_a_unit)
{
    static const struct {
        const char *text;
        uint64_t ns;
    } rows[] = {
        {"1n", 1},
        {"12u", 12000},
        {"100m", 100000000},
        {"2S", 2000000000},
        {"3M", 180000000000},
        {"1H", 3600000000000},
        {"0m", 0},
        {"00000001n", 1},
        {"99999999H", (uint64_t)100 * 365 * 24 * 3600 * 1000000000}, // the max
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        uint64_t ns = 7;
        ck_assert_int_eq(srv_grpc_read_timeout(rows[i].text, &ns), 0);
        ck_assert_uint_eq(ns, rows[i].ns);
    }
}
END_TEST

START_TEST(other_timeouts_are_rejected)
{
    static const char *const rows[] = {"",    "1",   "m",   "1x", "1mm",  "123456789n", "-1m",
                                       "+1m", " 1m", "1 m", "1s", "0x1m", "1.5S"};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        uint64_t ns;
        ck_assert_msg(srv_grpc_read_timeout(rows[i], &ns) == -1, "'%s'", rows[i]);
    }
}
END_TEST

START_TEST(content_types_of_grpc_are_known)
{
    static const struct {
        const char *text;
        int is_grpc;
    } rows[] = {
        {"application/grpc", 1},       {"application/grpc+proto", 1}, {"APPLICATION/gRPC", 1},
        {"application/grpc; a=b", 1},  {"application/grpc+json", 0},  {"application/grpc-web", 0},
        {"application/grpcx", 0},      {"application/json", 0},       {"", 0},
        {"application/grpc+protox", 0}};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        ck_assert_msg(srv_grpc_is_content_type(rows[i].text) == rows[i].is_grpc, "'%s'",
                      rows[i].text);
}
END_TEST

START_TEST(messages_have_percent_encoding)
{
    srv_buffer b = {.data = NULL};
    srv_grpc_write_message(&b, "no 'x' ~\n 5% \xc3\xa4\x7f");
    ck_assert_str_eq(b.data, "no 'x' ~%0A 5%25 %C3%A4%7F");
    srv_buffer_clear(&b);
}
END_TEST

LN_TEST_MAIN("srv_grpc_text", timeouts_have_digits_and_a_unit, other_timeouts_are_rejected,
             content_types_of_grpc_are_known, messages_have_percent_encoding)

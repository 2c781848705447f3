/* SPDX-License-Identifier: MIT
 *
 * Launcher files: what is accepted, how it expands, and that every refusal names file, key and rule.
 */
#include "verifier/launcher.h"
#include "verifier/tests/support.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define HEAD "{\"schema\":\"zuno-sandbox/launcher/v1\",\"name\":\"x\","
#define ARGV "\"argv\":[\"run\",\"{command}\"],"
#define TAIL "\"modes\":[\"read-only\"],\"network\":\"deny\"}"
#define WITH_ARGV(list) HEAD "\"argv\":" list "," TAIL
#define WITH(more) HEAD ARGV more "," TAIL

static int parse(const char *text, size_t size, struct zsb_launcher **out, struct zsb_error *err)
{
    return zsb_launcher_parse(text, size, "box.json", "/etc/boxes", out, err);
}

START_TEST(a_full_file_is_read)
{
    const char text[] =
        "{\"schema\":\"zuno-sandbox/launcher/v1\",\"name\":\"my box\",\"argv\":[\"box\",\"{command}\"],"
        "\"modes\":[\"read-only\",\"workspace-write\"],\"network\":\"allow\","
        "\"environment\":{\"HOME\":\"{home}\",\"EMPTY\":\"\"}}";
    struct zsb_launcher *launcher = NULL;
    struct zsb_error err = ZSB_ERROR_INIT;
    ck_assert_msg(parse(text, sizeof(text) - 1, &launcher, &err) == 0, "%s", err.msg);
    ck_assert_str_eq(zsb_launcher_name(launcher), "my box");
    ck_assert(zsb_launcher_has_mode(launcher, ZSB_MODE_READ_ONLY));
    ck_assert(zsb_launcher_has_mode(launcher, ZSB_MODE_WORKSPACE_WRITE));
    ck_assert(!zsb_launcher_has_mode(launcher, ZSB_MODE_DANGER_FULL_ACCESS));
    ck_assert_int_eq((int)zsb_launcher_network(launcher), (int)ZSB_NETWORK_ALLOWED);
    ck_assert(launcher->has_environment);
    ck_assert_uint_eq(launcher->environment.count, 2);
    zsb_launcher_free(launcher);
}
END_TEST

#define TEXT(literal) literal, sizeof(literal) - 1
static const struct {
    const char *text;
    size_t size;
    const char *key;  /* named in the message; NULL: the file itself */
    const char *rule; /* part of the message */
} refused[] = {
    {TEXT(""), NULL, "is not JSON"},
    {TEXT("{"), NULL, "is not JSON (line 1)"},
    {TEXT("\n\n{\"schema\":,}"), NULL, "is not JSON (line 3)"},
    {TEXT(HEAD ARGV TAIL " trailing"), NULL, "is not JSON"},
    {TEXT("[]"), NULL, "one JSON object"},
    {TEXT("{}"), "schema", "is missing"},
    {TEXT("{\"schema\":\"zuno-sandbox/launcher/v2\",\"name\":\"x\"," ARGV TAIL), "schema",
     "must be \"zuno-sandbox/launcher/v1\""},
    {TEXT("{\"schema\":1,\"name\":\"x\"," ARGV TAIL), "schema", "must be"},
    {TEXT("{\"schema\":\"zuno-sandbox/launcher/v1\"," ARGV TAIL), "name", "is missing"},
    {TEXT("{\"schema\":\"zuno-sandbox/launcher/v1\",\"name\":\"\"," ARGV TAIL), "name", "not empty"},
    {TEXT("{\"schema\":\"zuno-sandbox/launcher/v1\",\"name\":\"a\\nb\"," ARGV TAIL), "name",
     "control characters"},
    {TEXT(HEAD TAIL), "argv", "is missing"},
    {TEXT(WITH_ARGV("\"run {command}\"")), "argv", "array"},
    {TEXT(WITH_ARGV("[]")), "argv", "array"},
    {TEXT(WITH_ARGV("[\"run\",1]")), "argv", "strings only"},
    {TEXT(WITH_ARGV("[\"\",\"{command}\"]")), "argv", "must start with"},
    {TEXT(WITH_ARGV("[\"./run\",\"{command}\"]")), "argv", "must start with"},
    {TEXT(WITH_ARGV("[\"run\",\"{comand}\"]")), "argv", "unknown placeholder"},
    {TEXT(WITH_ARGV("[\"run\",\"--bind={workspaces}\"]")), "argv", "unknown placeholder"},
    {TEXT(WITH_ARGV("[\"run\",\"-c {command}\"]")), "argv", "must stand alone"},
    {TEXT(HEAD ARGV "\"network\":\"deny\"}"), "modes", "is missing"},
    {TEXT(HEAD ARGV "\"modes\":[],\"network\":\"deny\"}"), "modes", "not empty"},
    {TEXT(HEAD ARGV "\"modes\":\"read-only\",\"network\":\"deny\"}"), "modes", "array"},
    {TEXT(HEAD ARGV "\"modes\":[\"readonly\"],\"network\":\"deny\"}"), "modes", "may hold"},
    {TEXT(HEAD ARGV "\"modes\":[\"danger-full-access\"],\"network\":\"deny\"}"), "modes", "may hold"},
    {TEXT(HEAD ARGV "\"modes\":[\"read-only\",\"read-only\"],\"network\":\"deny\"}"), "modes", "twice"},
    {TEXT(HEAD ARGV "\"modes\":[\"read-only\"]}"), "network", "is missing"},
    {TEXT(HEAD ARGV "\"modes\":[\"read-only\"],\"network\":\"denied\"}"), "network", "\"deny\" or \"allow\""},
    {TEXT(HEAD ARGV "\"modes\":[\"read-only\"],\"network\":false}"), "network", "\"deny\" or \"allow\""},
    {TEXT(WITH("\"enviroment\":{}")), "enviroment", "is unknown"},
    {TEXT(WITH("\"Name\":\"x\"")), "Name", "is unknown"},
    {TEXT(WITH("\"name\":\"y\"")), "name", "stands there twice"},
    {TEXT(WITH("\"environment\":[]")), "environment", "object of strings"},
    {TEXT(WITH("\"environment\":{\"A\":1}")), "environment", "strings only"},
    {TEXT(WITH("\"environment\":{\"A\":\"1\",\"A\":\"2\"}")), "environment", "twice"},
    {TEXT(WITH("\"environment\":{\"\":\"1\"}")), "environment", "proper name"},
    {TEXT(WITH("\"environment\":{\"A=B\":\"1\"}")), "environment", "proper name"},
    {TEXT(WITH("\"environment\":{\"A\":\"{command}\"}")), "environment", "which is no text"},
    {TEXT(WITH("\"environment\":{\"A\":\"{command-string}\"}")), "environment", "only an argument"},
    {TEXT(WITH("\"environment\":{\"A\":\"{hom}\"}")), "environment", "unknown placeholder"},
    {TEXT(HEAD "\"argv\":[\"a\\u0000b\"]," TAIL), NULL, "NUL"},
    {TEXT(HEAD "\"argv\":[\"a\0b\"]," TAIL), NULL, "NUL"},
    {TEXT(HEAD "\"argv\":[\"a\xff\"]," TAIL), NULL, "not UTF-8"},
};

START_TEST(a_refusal_names_file_key_and_rule)
{
    struct zsb_launcher *launcher = NULL;
    struct zsb_error err = ZSB_ERROR_INIT;
    int rc = parse(refused[_i].text, refused[_i].size, &launcher, &err);
    ck_assert_msg(rc == -ZSB_E_INVALID_ARGUMENT, "row %d was accepted: %s", _i, refused[_i].text);
    ck_assert_ptr_null(launcher);
    ck_assert_msg(strstr(err.msg, "box.json") != NULL, "no file in \"%s\"", err.msg);
    ck_assert_msg(strstr(err.msg, refused[_i].rule) != NULL, "no rule in \"%s\"", err.msg);
    if (refused[_i].key != NULL) {
        ZSB_AUTO_FREE char *key = zsb_strdupf("key \"%s\"", refused[_i].key);
        ck_assert_msg(strstr(err.msg, key) != NULL, "no key in \"%s\"", err.msg);
        ck_assert_str_eq(err.subject, refused[_i].key);
    }
    ck_assert_ptr_null(strchr(err.msg, '\n'));
}
END_TEST

START_TEST(a_file_over_the_maximum_is_refused)
{
    ZSB_AUTO_BUF text = ZSB_BUF_INIT;
    struct zsb_launcher *launcher = NULL;
    struct zsb_error err = ZSB_ERROR_INIT;
    zsb_buf_add(&text, HEAD ARGV TAIL);
    while (text.size_bytes <= ZSB_LAUNCHER_FILE_MAX)
        zsb_buf_addc(&text, ' ');
    ck_assert_int_eq(parse(text.data, text.size_bytes, &launcher, &err), -ZSB_E_INVALID_ARGUMENT);
    ck_assert_ptr_nonnull(strstr(err.msg, "larger than"));
}
END_TEST

static const struct {
    const char *word;
    const char *expanded; /* words joined by '|' */
} words[] = {
    {"{command}", "/bin/echo|a b|it's"},
    {"{command-string}", "'/bin/echo' 'a b' 'it'\\''s'"},
    {"exec {command-string}", "exec '/bin/echo' 'a b' 'it'\\''s'"},
    {"{workspace}", "/w/ws"},
    {"--bind={workspace}:{cwd}", "--bind=/w/ws:/w/ws/sub"},
    {"{home}{lab}", "/w/home/w"},
    {"{mode},{network}", "workspace-write,allow"},
    {"{dir}/box", "/etc/boxes/box"},
    {"${HOME}", "${HOME}"},
    {"f() { true; }", "f() { true; }"},
    {"{}", "{}"},
    {"{", "{"},
    {"", ""},
};

START_TEST(placeholders_expand)
{
    struct zsb_launcher launcher = {.dir = (char *)(uintptr_t) "/etc/boxes"};
    ZSB_AUTO_STRV command = ZSB_STRV_INIT;
    ZSB_AUTO_STRV argv = ZSB_STRV_INIT;
    ZSB_AUTO_STRV environment = ZSB_STRV_INIT;
    ZSB_AUTO_BUF joined = ZSB_BUF_INIT;
    zsb_strv_add(&command, "/bin/echo");
    zsb_strv_add(&command, "a b");
    zsb_strv_add(&command, "it's");
    zsb_strv_add(&launcher.argv, words[_i].word);
    struct zsb_launch_values values = {
        "/w/ws", "/w/ws/sub", "/w/home", "/w", ZSB_MODE_WORKSPACE_WRITE, ZSB_NETWORK_ALLOWED, &command};
    ck_assert_ptr_null(zsb_launcher_word_rule(words[_i].word, true));
    ck_assert_int_eq(zsb_launcher_expand(&launcher, &values, &argv, &environment), 0);
    zsb_buf_add(&joined, "");
    for (size_t i = 0; i < argv.count; i++)
        zsb_buf_addf(&joined, "%s%s", i > 0 ? "|" : "", argv.items[i]);
    ck_assert_str_eq(joined.data != NULL ? joined.data : "", words[_i].expanded);
    zsb_strv_clear(&launcher.argv);
}
END_TEST

START_TEST(a_file_that_cannot_be_read_is_named)
{
    struct zsb_launcher *launcher = NULL;
    struct zsb_error err = ZSB_ERROR_INIT;
    ck_assert_int_eq(zsb_launcher_load("/nonexistent/box.json", &launcher, &err), -ZSB_E_INVALID_ARGUMENT);
    ck_assert_ptr_nonnull(strstr(err.msg, "/nonexistent/box.json"));
    ck_assert_int_ne(zsb_launcher_load("/", &launcher, &err), 0);
}
END_TEST

START_TEST(dir_is_the_real_directory_of_the_file)
{
    struct zsb_test_dir dir;
    struct zsb_launcher *launcher = NULL;
    struct zsb_error err = ZSB_ERROR_INIT;
    zsb_test_dir_make(&dir);
    ck_assert_int_eq(mkdirat(dir.fd, "real", 0700), 0);
    ZSB_AUTO_FD int fd = openat(dir.fd, "real/box.json", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    ck_assert_int_eq(zsb_write_all(fd, HEAD ARGV TAIL, strlen(HEAD ARGV TAIL)), 0);
    ck_assert_int_eq(symlinkat("real/box.json", dir.fd, "link.json"), 0);
    ZSB_AUTO_FREE char *path = zsb_strdupf("%s/link.json", dir.path);
    ZSB_AUTO_FREE char *wanted = zsb_strdupf("%s/real", dir.path);
    ck_assert_msg(zsb_launcher_load(path, &launcher, &err) == 0, "%s", err.msg);
    ck_assert_str_eq(launcher->dir, wanted);
    zsb_launcher_free(launcher);
    zsb_test_dir_remove(&dir);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("launcher");
    TCase *tcase = tcase_create("file");
    tcase_add_test(tcase, a_full_file_is_read);
    tcase_add_loop_test(tcase, a_refusal_names_file_key_and_rule, 0, (int)ZSB_ARRAY_SIZE(refused));
    tcase_add_test(tcase, a_file_over_the_maximum_is_refused);
    tcase_add_loop_test(tcase, placeholders_expand, 0, (int)ZSB_ARRAY_SIZE(words));
    tcase_add_test(tcase, a_file_that_cannot_be_read_is_named);
    tcase_add_test(tcase, dir_is_the_real_directory_of_the_file);
    suite_add_tcase(suite, tcase);
    return zsb_test_main(suite);
}

/* SPDX-License-Identifier: MIT
 *
 * What the helper reads: its configuration and mountinfo.
 */
#include "lib/helper/helper.h"
#include "lib/tests/support.h"

#include <string.h>

#define GOOD "status=3\0cwd=1:2:/x\0arg=true\0"
#define ROW(text, needle, why)                                                                               \
    {                                                                                                        \
        text, sizeof(text) - 1, needle, why                                                                  \
    }

static const struct {
    const char *data;
    size_t size_bytes;
    const char *message; /* part of it */
    const char *reason;
} malformed[] = {
    ROW("", "must end with NUL", "nothing"),
    ROW("status=3", "must end with NUL", "not terminated"),
    ROW(GOOD "env=A=1", "must end with NUL", "cut short"),
    ROW("\0", "has no value", "empty entry"),
    ROW(GOOD "\0", "has no value", "empty entry at the end"),
    ROW(GOOD "native\0", "has no value", "no equals sign"),
    ROW(GOOD "=\0", "unknown", "empty key"),
    ROW(GOOD "unknown=1\0", "unknown", "unknown key"),
    ROW(GOOD "Status=3\0", "unknown", "keys are lower case"),
    ROW(GOOD "status =3\0", "unknown", "keys are exact"),
    ROW(GOOD "cwd=1:2:/y\0", "repeated", "two directories"),
    ROW("cwd=1:2:/x\0arg=true\0", "required", "no status descriptor"),
    ROW("status=3\0arg=true\0", "required", "no directory"),
    ROW("status=3\0cwd=1:2:/x\0", "required", "no command"),
    ROW("status=\0cwd=1:2:/x\0arg=true\0", "not a descriptor", "empty number"),
    ROW("status=-1\0cwd=1:2:/x\0arg=true\0", "not a descriptor", "negative"),
    ROW("status=2147483648\0cwd=1:2:/x\0arg=true\0", "not a descriptor", "larger than an int"),
    ROW("status=3x\0cwd=1:2:/x\0arg=true\0", "not a descriptor", "letters behind"),
    ROW(GOOD "keeper=x\0", "not a descriptor", "keeper"),
    ROW(GOOD "program=\0", "not a descriptor", "program"),
    ROW(GOOD "grant=2\0", "3 or above", "a standard stream is no grant"),
    ROW(GOOD "grant=\0", "not a descriptor", "empty grant"),
    ROW("status=3\0cwd=/x\0arg=true\0", "malformed", "directory without identity"),
    ROW("status=3\0cwd=1:2\0arg=true\0", "malformed", "directory without path"),
    ROW("status=3\0cwd=1:2:x\0arg=true\0", "malformed", "relative directory"),
    ROW("status=3\0cwd=a:2:/x\0arg=true\0", "malformed", "device is no number"),
    ROW("status=3\0cwd=1::/x\0arg=true\0", "malformed", "empty inode"),
    ROW("status=3\0cwd=18446744073709551616:2:/x\0arg=true\0", "malformed", "device overflows"),
    ROW(GOOD "writable=/ws\0", "DEVICE:INODE:/PATH", "audit without identity"),
    ROW(GOOD "read-only=1:2:ws\0", "DEVICE:INODE:/PATH", "relative audit"),
    ROW(GOOD "held=0:0:\0", "DEVICE:INODE:/PATH", "empty audit path"),
    ROW(GOOD "denied=-1:0:/x\0", "DEVICE:INODE:/PATH", "negative device"),
    ROW(GOOD "scratch=\0", "DEVICE:INODE:/PATH", "empty audit"),
    ROW(GOOD "knob=0\0", "DEVICE:INODE:/PATH", "one number"),
    ROW(GOOD "outer=user\0", "NAMESPACE:INODE", "namespace without inode"),
    ROW(GOOD "outer=user:x\0", "NAMESPACE:INODE", "inode is no number"),
    ROW(GOOD
        "outer=a:1\0outer=b:1\0outer=c:1\0outer=d:1\0outer=e:1\0outer=f:1\0outer=g:1\0outer=h:1\0outer=i:1\0",
        "NAMESPACE:INODE", "more namespaces than there are"),
};

START_TEST(malformed_configuration_is_refused)
{
    struct zsb_helper_config config;
    struct zsb_error err = ZSB_ERROR_INIT;
    size_t size = malformed[_i].size_bytes;
    ZSB_AUTO_FREE char *data = malloc(size > 0 ? size : 1);
    memcpy(data, malformed[_i].data, size);
    ck_assert_msg(zsb_helper_config_parse(data, size, &config, &err) == -ZSB_E_HELPER, "%s",
                  malformed[_i].reason);
    ck_assert_msg(strstr(err.msg, malformed[_i].message) != NULL, "%s: %s", malformed[_i].reason, err.msg);
    ck_assert_int_eq(err.stage, ZSB_STAGE_CONFINE);
}
END_TEST

START_TEST(complete_configuration_is_understood)
{
    static const char text[] =
        "cwd=65024:131:/ws\0arg=sh\0arg=-c\0arg=a=b\0env=PATH=/bin\0env=X=\0grant=7\0grant=3\0program=9\0"
        "outer=user:4026531837\0outer=net:5\0writable=65024:131:/ws\0read-only=1:2:/ws/.git\0"
        "denied=1:3:/ws/a:b\0scratch=0:0:/tmp\0knob=0:0:/proc/sys\0held=0:0:/ws/.zuno\0status=4\0keeper=5\0";
    struct zsb_helper_config config;
    struct zsb_error err = ZSB_ERROR_INIT;
    char *data = malloc(sizeof(text) - 1);
    memcpy(data, text, sizeof(text) - 1);
    ck_assert_msg(zsb_helper_config_parse(data, sizeof(text) - 1, &config, &err) == 0, "%s", err.msg);
    ck_assert_int_eq(config.status_fd, 4);
    ck_assert_int_eq(config.keeper_fd, 5);
    ck_assert_int_eq(config.program_fd, 9);
    ck_assert_str_eq(config.cwd, "/ws");
    ck_assert_uint_eq(config.cwd_device, 65024);
    ck_assert_uint_eq(config.cwd_inode, 131);
    ck_assert_uint_eq(config.argc, 3);
    ck_assert_str_eq(config.argv[2], "a=b");
    ck_assert_ptr_null(config.argv[3]);
    ck_assert_uint_eq(config.environment_count, 2);
    ck_assert_str_eq(config.environment[1], "X=");
    ck_assert_uint_eq(config.grant_count, 2);
    ck_assert_int_eq(config.grants[1], 3);
    ck_assert_uint_eq(config.outer_count, 2);
    ck_assert_str_eq(config.outer[0].name, "user");
    ck_assert_uint_eq(config.outer[0].inode, 4026531837u);
    static const enum zsb_audit_kind kinds[] = {ZSB_AUDIT_WRITABLE, ZSB_AUDIT_READ_ONLY, ZSB_AUDIT_DENIED,
                                                ZSB_AUDIT_SCRATCH,  ZSB_AUDIT_KNOB,      ZSB_AUDIT_HELD};
    ck_assert_uint_eq(config.audit_count, ZSB_ARRAY_SIZE(kinds));
    for (size_t i = 0; i < ZSB_ARRAY_SIZE(kinds); i++)
        ck_assert_int_eq(config.audits[i].kind, kinds[i]);
    ck_assert_str_eq(config.audits[2].path, "/ws/a:b");
    zsb_helper_config_clear(&config);
    ck_assert_int_eq(config.status_fd, -1);
    ck_assert_ptr_null(config.argv);
}
END_TEST

START_TEST(many_entries_are_kept_in_order)
{
    enum { COUNT = 3000 };
    struct zsb_buf text = ZSB_BUF_INIT;
    struct zsb_helper_config config;
    zsb_buf_append(&text, GOOD, sizeof(GOOD) - 1);
    for (int i = 0; i < COUNT; i++) {
        zsb_buf_addf(&text, "arg=%d", i);
        zsb_buf_addc(&text, '\0');
        zsb_buf_addf(&text, "env=V%d=%d", i, i);
        zsb_buf_addc(&text, '\0');
        zsb_buf_addf(&text, "denied=%d:1:/d%d", i, i);
        zsb_buf_addc(&text, '\0');
        zsb_buf_addf(&text, "grant=%d", i + 3);
        zsb_buf_addc(&text, '\0');
    }
    size_t size = text.size_bytes;
    ck_assert_int_eq(zsb_helper_config_parse(zsb_buf_take(&text), size, &config, NULL), 0);
    ck_assert_uint_eq(config.argc, COUNT + 1);
    ck_assert_uint_eq(config.environment_count, COUNT);
    ck_assert_uint_eq(config.audit_count, COUNT);
    ck_assert_uint_eq(config.grant_count, COUNT);
    ck_assert_str_eq(config.argv[COUNT], "2999");
    ck_assert_ptr_null(config.argv[COUNT + 1]);
    ck_assert_ptr_null(config.environment[COUNT]);
    ck_assert_uint_eq(config.audits[COUNT - 1].device, COUNT - 1);
    ck_assert_int_eq(config.grants[COUNT - 1], COUNT + 2);
    zsb_helper_config_clear(&config);
}
END_TEST

START_TEST(configuration_without_environment_has_an_empty_one)
{
    struct zsb_helper_config config;
    char *data = malloc(sizeof(GOOD) - 1);
    memcpy(data, GOOD, sizeof(GOOD) - 1);
    ck_assert_int_eq(zsb_helper_config_parse(data, sizeof(GOOD) - 1, &config, NULL), 0);
    ck_assert_ptr_nonnull(config.environment);
    ck_assert_ptr_null(config.environment[0]);
    zsb_helper_config_clear(&config);
}
END_TEST

static const struct {
    const char *line;
    bool valid;
    uint64_t id;
    const char *point;
    bool writable;
    const char *reason;
} mounts[] = {
    {"36 35 98:0 / /mnt rw,noatime master:1 - ext3 /dev/root rw", true, 36, "/mnt", true,
     "proc(5)'s example"},
    {"36 35 98:0 / /mnt ro,noatime - ext3 /dev/root rw", true, 36, "/mnt", false,
     "the mount is read-only, the filesystem is not"},
    {"36 35 98:0 / /mnt rw - ext3 /dev/root ro", true, 36, "/mnt", true,
     "only the mount's own options count here"},
    {"36 35 98:0 / /mnt noatime,ro,nosuid - x y rw", true, 36, "/mnt", false,
     "ro anywhere among the options"},
    {"36 35 98:0 / /mnt error=ro,rono,xro - x y rw", true, 36, "/mnt", true, "ro is a whole word"},
    {"36 35 98:0 / /mnt rw", true, 36, "/mnt", true, "six fields are enough"},
    {"36 35 98:0 / / rw - x y z", true, 36, "/", true, "root"},
    {"36 35 98:0 / /a\\040b rw - x y z", true, 36, "/a b", true, "space"},
    {"36 35 98:0 / /a\\011b\\012c\\134d rw - x y z", true, 36, "/a\tb\nc\\d", true,
     "tab, newline, backslash"},
    {"36 35 98:0 / /a\\134040b rw - x y z", true, 36, "/a\\040b", true,
     "an escaped backslash is not read twice"},
    {"36 35 98:0 / /a\\04 rw - x y z", true, 36, "/a\\04", true, "two digits are no escape"},
    {"36 35 98:0 / /a\\089 rw - x y z", true, 36, "/a\\089", true, "8 is no octal digit"},
    {"36 35 98:0 / /a\\ rw - x y z", true, 36, "/a\\", true, "lone backslash"},
    {"18446744073709551615 35 98:0 / /m rw", true, UINT64_MAX, "/m", true, "largest number"},
    {"18446744073709551616 35 98:0 / /m rw", false, 0, NULL, false, "number overflows"},
    {"x 35 98:0 / /m rw", false, 0, NULL, false, "identifier is no number"},
    {"-1 35 98:0 / /m rw", false, 0, NULL, false, "identifier is negative"},
    {"36 35 98:0 / m rw", false, 0, NULL, false, "relative mount point"},
    {"36 35 98:0 / /m", false, 0, NULL, false, "no options"},
    {"36 35 98:0 / /m ", false, 0, NULL, false, "empty options"},
    {"36  98:0 / /m rw", false, 0, NULL, false, "empty field"},
    {" 36 35 98:0 / /m rw", false, 0, NULL, false, "space in front"},
    {"", false, 0, NULL, false, "nothing"},
};

START_TEST(mount_line_is_read_as_proc_5_says)
{
    uint64_t id = 0;
    char *point = NULL;
    bool writable = false;
    ZSB_AUTO_FREE char *line = strdup(mounts[_i].line);
    ck_assert_msg(zsb_mountinfo_parse_line(line, &id, &point, &writable) == mounts[_i].valid, "%s",
                  mounts[_i].reason);
    if (!mounts[_i].valid)
        return;
    ck_assert_msg(id == mounts[_i].id, "%s", mounts[_i].reason);
    ck_assert_msg(strcmp(point, mounts[_i].point) == 0, "%s: %s", mounts[_i].reason, point);
    ck_assert_msg(writable == mounts[_i].writable, "%s", mounts[_i].reason);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("config");
    TCase *tests = zsb_test_case(suite, "config", 20);
    tcase_add_loop_test(tests, malformed_configuration_is_refused, 0, (int)ZSB_ARRAY_SIZE(malformed));
    tcase_add_test(tests, complete_configuration_is_understood);
    tcase_add_test(tests, many_entries_are_kept_in_order);
    tcase_add_test(tests, configuration_without_environment_has_an_empty_one);
    tcase_add_loop_test(tests, mount_line_is_read_as_proc_5_says, 0, (int)ZSB_ARRAY_SIZE(mounts));
    return zsb_test_run(suite, CK_FORK);
}

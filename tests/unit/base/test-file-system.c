/* SPDX-License-Identifier: MIT */
/* Detection of network file systems. */
#include "base/file-system.h"

#include "../file-system.h"
#include "../unit.h"

START_TEST(recognizes_the_file_system_by_its_number)
{
    lx_error error = LX_ERROR_INIT;
    static const struct {
        uint32_t type;
        const char *name;
    } some[] = {{0x6969, "NFS"},    {0xff534d42, "CIFS"}, {0x00c36400, "Ceph"},
                {0x01021997, "9p"}, {0x65735546, "FUSE"}, {0x0bd00bd0, "Lustre"},
                {0x0000ef53, NULL}, {0x01021994, NULL}, /* ext4, tmpfs */
                {0x9123683e, NULL}, {0x58465342, NULL} /* btrfs, xfs */};
    lx__file root;
    unit_ok(lx__directory_open(&root, LX__CWD, "/proc", &error));
    ck_assert_ptr_null(lx__file_network(&root));
    for (size_t i = 0; i < sizeof some / sizeof *some; i++) {
        file_system_type = some[i].type;
        const char *name = lx__file_network(&root);
        ck_assert_int_eq(name == NULL, some[i].name == NULL);
        if (name != NULL)
            ck_assert_str_eq(name, some[i].name);
    }
    file_system_type = 0;
    ck_assert_ptr_null(lx__file_network(&root));
    lx__file_close(&root);
    ck_assert_ptr_null(lx__file_network(&root));
}
END_TEST

UNIT_MAIN("base/file-system", recognizes_the_file_system_by_its_number)

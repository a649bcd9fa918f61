/* SPDX-License-Identifier: MIT */
/* loaderx card: prints and changes the card of a dataset. */
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "dataset.h"
#include "failure.h"
#include "report.h"

enum { OPTION_SET = OPTION_OWN, OPTION_REMOVE };

static const command_option options[] = {
    {OPTION_SET, "set", "KEY=TEXT", "set an entry; can be repeated"},
    {OPTION_REMOVE, "remove", "KEY", "remove an entry; can be repeated"},
    QUIET_OPTION("do not print the card"),
    JSON_OPTION("print the card as JSON"),
};

typedef struct request {
    const char *path;
    lx_card_entry *changes;
    size_t count;
    bool quiet, json;
} request;

static lx_status add_change(request *r, const char *key, const char *text, lx_error *error)
{
    lx_card_entry *more = realloc(r->changes, (r->count + 1) * sizeof *more);
    if (more == NULL)
        return fail_memory(error, "a card");
    r->changes = more;
    more[r->count++] = (lx_card_entry){key, text};
    return LX_OK;
}

static lx_status take_option(void *user, const command_option *option, char *value, lx_error *error)
{
    request *r = user;
    char *equals;
    switch (option->id) {
    case OPTION_SET:
        equals = strchr(value, '=');
        if (equals == NULL)
            return lx_fail(error, LX_ERR_ARGUMENT, "--set %.64s has no text: use --set KEY=TEXT",
                           value);
        *equals = '\0';
        return add_change(r, value, equals + 1, error);
    case OPTION_REMOVE:
        return add_change(r, value, NULL, error);
    default:
        r->quiet = r->quiet || option->id == 'q';
        r->json = r->json || option->id == OPTION_JSON;
        return LX_OK;
    }
}

static lx_status take_argument(void *user, const char *text, lx_error *error)
{
    request *r = user;
    return command_take_directory(&r->path, text, error);
}

static lx_status change(const request *r, lx_error *error)
{
    lx_writer *writer = NULL;
    lx_status status = dataset_open_writer(r->path, NULL, &writer, error);
    if (status != LX_OK)
        return status;
    status = lx_writer_set_card(writer, r->changes, r->count, error);
    lx_status closed = lx_writer_close(writer, status == LX_OK ? error : NULL);
    return status != LX_OK ? status : closed;
}

static lx_status print(const request *r, lx_error *error)
{
    lx_dataset *dataset = NULL;
    lx_card *card = NULL;
    lx_status status = dataset_open_with(r->path, NULL, &dataset, error);
    if (status == LX_OK)
        status = lx_dataset_read_card(dataset, &card, error);
    if (status == LX_OK && r->json)
        status = report_print(
            json_pack("{s:o, s:o}", "path", report_text(r->path), "card", report_card_json(card)),
            error);
    else if (status == LX_OK && lx_card_get_count(card) == 0)
        printf("%s: the card is empty\n", r->path);
    else if (status == LX_OK)
        report_card(card);
    lx_card_free(card);
    lx_dataset_close(dataset);
    return status;
}

static lx_status run(int argc, char **argv, lx_error *error)
{
    request r = {0};
    const command_line line = {take_option, take_argument, &r};
    lx_status status = command_parse(&card_command, argc, argv, &line, error);
    if (status == LX_OK)
        status = command_need_directory(r.path, error);
    if (status == LX_OK && r.count != 0)
        status = change(&r, error);
    if (status == LX_OK && (!r.quiet || r.json))
        status = print(&r, error);
    free(r.changes);
    return status;
}

const command card_command = {
    .name = "card",
    .arguments = "DIR [OPTION...]",
    .summary = "print or change the card of a dataset: source, license, notes",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .notes = "A card is a small set of texts, each with a key; by convention: source, license,\n"
             "tokenizer and description. It stays with the dataset when the dataset is copied,\n"
             "backed up, sealed or changed.\n",
    .examples = "  loaderx card fashion\n"
                "  loaderx card fashion --set license=MIT --set \"source=$ADDRESS\"\n",
    .connects = true,
    .run = run};

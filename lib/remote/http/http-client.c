/* SPDX-License-Identifier: MIT */
#include "remote/http/http-client.h"

#include <pthread.h>
#include <string.h>

#include <loaderx/version.h>

#include "base/error.h"

#define CONNECT_TIMEOUT_MS 10000L
/* Transfers wake up by themselves only for libcurl's timers, which are shorter. */
#define POLL_MS 1000
/* What libcurl reads at a time. With its default of 16 KiB, ranges of 1 MiB take 8 % more CPU time;
 * more than 128 KiB do not help. */
#define BUFFER_BYTES (128L << 10)

static pthread_once_t prepared = PTHREAD_ONCE_INIT;
static CURLcode prepare_status;

static void prepare(void)
{
    prepare_status = curl_global_init(CURL_GLOBAL_DEFAULT);
}

lx_status lx__http_client_open(lx__http_client *client, const atomic_bool *stop, lx_error *error)
{
    pthread_once(&prepared, prepare);
    if (prepare_status != CURLE_OK)
        return lx_fail(error, LX_ERR_IO, "libcurl cannot be used: %s",
                       curl_easy_strerror(prepare_status));
    *client = (lx__http_client){.stop = stop};
    client->easy = curl_easy_init();
    client->multi = curl_multi_init();
    if (client->easy == NULL || client->multi == NULL) {
        lx__http_client_close(client);
        return lx__fail_memory(error, "a connection");
    }
    lx__http_client_reset(client);
    return LX_OK;
}

void lx__http_client_close(lx__http_client *client)
{
    curl_easy_cleanup(client->easy);
    curl_multi_cleanup(client->multi);
}

void lx__http_client_reset(lx__http_client *client)
{
    CURL *easy = client->easy;
    curl_easy_reset(easy);
    curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, client->text);
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_QUICK_EXIT, 1L); /* does not wait for a name server */
    curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, CONNECT_TIMEOUT_MS);
    curl_easy_setopt(easy, CURLOPT_TCP_KEEPALIVE, 1L);
    curl_easy_setopt(easy, CURLOPT_BUFFERSIZE, BUFFER_BYTES);
    curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    curl_easy_setopt(easy, CURLOPT_PATH_AS_IS, 1L);
    curl_easy_setopt(easy, CURLOPT_USERAGENT, "libloaderx/" LX_VERSION_STRING);
}

/** Runs the transfer, which was added, to its end. */
static CURLcode drive(lx__http_client *client)
{
    int running = 1;
    while (!atomic_load(client->stop)) {
        CURLMcode failure = curl_multi_perform(client->multi, &running);
        if (failure == CURLM_OK && running != 0)
            failure = curl_multi_poll(client->multi, NULL, 0, POLL_MS, NULL);
        if (failure != CURLM_OK)
            return failure == CURLM_OUT_OF_MEMORY ? CURLE_OUT_OF_MEMORY : CURLE_FAILED_INIT;
        if (running == 0) {
            int left;
            const CURLMsg *done = curl_multi_info_read(client->multi, &left);
            return done != NULL ? done->data.result : CURLE_FAILED_INIT;
        }
    }
    return CURLE_ABORTED_BY_CALLBACK;
}

CURLcode lx__http_client_perform(lx__http_client *client)
{
    client->text[0] = '\0';
    if (curl_multi_add_handle(client->multi, client->easy) != CURLM_OK)
        return CURLE_OUT_OF_MEMORY;
    CURLcode result = drive(client);
    curl_multi_remove_handle(client->multi, client->easy);
    if (client->text[0] == '\0')
        strncat(client->text, curl_easy_strerror(result), sizeof client->text - 1);
    return result;
}

void lx__http_client_wake(const lx__http_client *client)
{
    curl_multi_wakeup(client->multi);
}

/** The text of an answer. */
struct answer {
    char *text;
    size_t size, capacity;
};

static size_t take_text(char *bytes, size_t unit, size_t count, void *user)
{
    struct answer *answer = user;
    (void)unit; /* is 1 */
    if (count >= answer->capacity - answer->size)
        return 0;
    memcpy(answer->text + answer->size, bytes, count);
    answer->size += count;
    return count;
}

lx_status lx__http_client_fetch(lx__http_client *client, const lx__http_fetch *what, char *text,
                                size_t capacity, long *code, lx_error *error)
{
    struct answer answer = {text, 0, capacity};
    struct curl_slist *headers = NULL;
    if (what->header != NULL && (headers = curl_slist_append(NULL, what->header)) == NULL)
        return lx__fail_memory(error, "a header");
    lx__http_client_reset(client);
    curl_easy_setopt(client->easy, CURLOPT_URL, what->url);
    curl_easy_setopt(client->easy, CURLOPT_CUSTOMREQUEST, what->method);
    curl_easy_setopt(client->easy, CURLOPT_HTTPHEADER, headers);
    curl_easy_setopt(client->easy, CURLOPT_NOPROXY, "*");
    curl_easy_setopt(client->easy, CURLOPT_TIMEOUT_MS, what->timeout_ms);
    curl_easy_setopt(client->easy, CURLOPT_WRITEFUNCTION, take_text);
    curl_easy_setopt(client->easy, CURLOPT_WRITEDATA, &answer);
    CURLcode result = lx__http_client_perform(client);
    *code = 0;
    if (result == CURLE_OK)
        curl_easy_getinfo(client->easy, CURLINFO_RESPONSE_CODE, code);
    lx__http_client_reset(client);
    curl_slist_free_all(headers);
    text[answer.size] = '\0';
    if (result == CURLE_ABORTED_BY_CALLBACK)
        return lx_fail(error, LX_ERR_CANCELED, "the request was interrupted");
    if (result == CURLE_OUT_OF_MEMORY)
        return lx__fail_memory(error, "a request");
    if (result == CURLE_WRITE_ERROR)
        return lx_fail(error, LX_ERR_LIMIT, "the answer of %s has more than %zu bytes", what->url,
                       capacity - 1);
    return LX_OK;
}

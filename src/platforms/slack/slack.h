/* slack.h - what is known of Slack's updates without a connection, for all who receive them.
 *
 * They come over Socket Mode (connection.c) and over HTTP (http/api_slack.c), and lie in the inbox
 * as they came. Pure, thread-safe; text lives in the arena. */
#ifndef TALARIA_PLATFORMS_SLACK_SLACK_H
#define TALARIA_PLATFORMS_SLACK_SLACK_H

#include "platforms/platform.h"

/* The name of an update that is a message or a command: for a message its channel and time, so that
 * the two events that a mention makes are one. *ret_keep false: it is valid, and nobody needs
 * it. */
MUST_CHECK bool slack_name(Arena *a, Str update, const Identity *me, Str *ret, bool *ret_keep,
                           Err *err);

/* What a frame of Socket Mode is about. */
typedef enum SlackFrame {
    SLACK_FRAME_OTHER, /* for nobody */
    SLACK_FRAME_HELLO,
    SLACK_FRAME_LEAVE, /* this socket ends soon */
    SLACK_FRAME_UPDATE /* to be kept, then acknowledged */
} SlackFrame;

enum { SLACK_ENVELOPE_CHARS = 255 };

/* *ret_envelope: the name of an update, borrowed or in the arena, at most SLACK_ENVELOPE_CHARS
 * bytes. False: the frame is no object. */
MUST_CHECK bool slack_frame_read(Arena *a, Str frame, SlackFrame *ret, Str *ret_envelope);
/* The frame that acknowledges it. */
Str slack_acknowledgement(Arena *a, Str envelope);

/* What Slack says of a request that it sends over HTTP. */
typedef struct SlackSigned {
    Str timestamp, signature; /* X-Slack-Request-Timestamp, X-Slack-Signature */
    Str body;                 /* as it came */
} SlackSigned;

enum { SLACK_SIGNED_S = 300 }; /* an older one is refused, and one from so far ahead */

/* Whether it could be Slack's, by its head alone: it is signed, and lately. */
MUST_CHECK bool slack_may_be(const SlackSigned *s, int64_t now_s, Err *err);
/* Whether Slack sent it, and lately. ERR_REFUSED: which of the two is not so. */
MUST_CHECK bool slack_verify(Arena *a, Str secret, const SlackSigned *s, int64_t now_s, Err *err);

/* Text as Slack sends it, as Markdown: links, names and escapes are resolved. */
Str slack_to_markdown(Arena *a, Str text);

/* Markdown as Slack's own mark-up, in which nothing calls a whole channel. */
Str slack_from_markdown(Arena *a, Str text);

#endif

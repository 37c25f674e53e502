/* The writing half of pyjson.h: json.dumps() with its defaults. */
#include <math.h>

#include "text/pyjson.h"

/* -- floats, as repr() shows them -- */

enum { MAX_DIGITS = 17, REPR_BYTES = 40 };

/* One more in the last of the n digits of "d.ddde+XX"; false where that would be a digit more. */
static bool next_up(char *text, int n)
{
    for (int i = n; i >= 0; i--) {
        if (i == 1)
            continue; /* the point */
        if (text[i] != '9') {
            text[i]++;
            return true;
        }
        text[i] = '0';
    }
    return false;
}

/* The fewest digits that read back as the same number, as "-d.ddde+XX". Fifteen always survive in a
 * normal number, and the zeros at their end are not part of it. Below a power of two numbers lie
 * closer together: there the nearest sixteen digits may be too far away, and the next ones not. */
static void fewest_digits(char text[REPR_BYTES], double n)
{
    int from = fabs(n) < 2.3e-308 ? 1 : 15;

    for (int digits = from; digits <= MAX_DIGITS; digits++) {
        snprintf(text, REPR_BYTES, "%.*e", digits - 1, n);
        if (strtod(text, NULL) == n)
            return;
        if (digits == 16 && next_up(text + (n < 0), digits) && strtod(text, NULL) == n)
            return;
    }
}

static void put_point(Buf *out, const char *digits, int n, int before)
{
    if (before <= 0) {
        buf_addz(out, "0.");
        buf_pad(out, '0', (size_t)-before);
        buf_add(out, (Str){ digits, (size_t)n });
    } else if (before >= n) {
        buf_add(out, (Str){ digits, (size_t)n });
        buf_pad(out, '0', (size_t)(before - n));
        buf_addz(out, ".0");
    } else {
        buf_add(out, (Str){ digits, (size_t)before });
        buf_addc(out, '.');
        buf_add(out, (Str){ digits + before, (size_t)(n - before) });
    }
}

static void put_float(Buf *out, double real)
{
    char text[REPR_BYTES], digits[MAX_DIGITS + 1] = "0";
    int n = 0, exponent;
    const char *p = text;

    if (!isfinite(real)) {
        buf_addz(out, isnan(real) ? "NaN" : real > 0 ? "Infinity" : "-Infinity");
        return;
    }
    if (signbit(real))
        buf_addc(out, '-');
    fewest_digits(text, fabs(real));
    for (; *p != 'e'; p++)
        if (*p != '.')
            digits[n++] = *p;
    exponent = (int)strtod(p + 1, NULL); /* "+16", "-07" */
    while (n > 1 && digits[n - 1] == '0')
        n--;
    if (exponent >= -4 && exponent < 16) {
        put_point(out, digits, n, exponent + 1);
        return;
    }
    buf_addc(out, digits[0]);
    if (n > 1)
        buf_addc(out, '.');
    buf_add(out, (Str){ digits + 1, (size_t)(n - 1) });
    buf_addf(out, "e%c%02d", exponent < 0 ? '-' : '+', abs(exponent));
}

/* -- values -- */

static void put_number(JsonWriter *w, const PyValue *v)
{
    AUTO_BUF text = BUF(REPR_BYTES * 2);

    put_float(&text, v->real);
    if (isfinite(v->real) || w->python)
        json_put_raw(w, buf_str(&text));
    else
        json_put_null(w);
}

void pyjson_put(JsonWriter *w, const PyValue *v)
{
    bool dict = v->type == PY_DICT;

    switch (v->type) {
    case PY_NULL:
        json_put_null(w);
        break;
    case PY_FALSE:
    case PY_TRUE:
        json_put_bool(w, v->type == PY_TRUE);
        break;
    case PY_INT:
        json_put_raw(w, v->text);
        break;
    case PY_FLOAT:
        put_number(w, v);
        break;
    case PY_STR:
        json_put_str(w, v->text);
        break;
    case PY_LIST:
    case PY_DICT:
        json_begin(w, dict ? '{' : '[');
        for (size_t i = 0; i < v->n; i++) {
            if (dict)
                json_key_str(w, v->items[2 * i].text);
            pyjson_put(w, &v->items[dict ? 2 * i + 1 : i]);
        }
        json_end(w, dict ? '}' : ']');
        break;
    }
}

void pyjson_write(Buf *out, const PyValue *v)
{
    JsonWriter w = { .out = out, .first = true, .ascii = true, .python = true };

    pyjson_put(&w, v);
}

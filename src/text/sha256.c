/* FIPS 180-4, in one pass over whole texts: what is hashed here is in memory already. */
#include "text/sha256.h"

static const uint32_t rounds[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static uint32_t turn(uint32_t x, int n)
{
    return x >> n | x << (32 - n);
}

static void schedule(const uint8_t *block, uint32_t w[64])
{
    for (int i = 0; i < 16; i++)
        w[i] = (uint32_t)block[4 * i] << 24 | (uint32_t)block[4 * i + 1] << 16 |
               (uint32_t)block[4 * i + 2] << 8 | block[4 * i + 3];
    for (int i = 16; i < 64; i++) {
        uint32_t a = w[i - 15], b = w[i - 2];

        w[i] = w[i - 16] + (turn(a, 7) ^ turn(a, 18) ^ a >> 3) + w[i - 7] +
               (turn(b, 17) ^ turn(b, 19) ^ b >> 10);
    }
}

static void mix(uint32_t h[8], const uint8_t *block)
{
    uint32_t w[64], v[8];

    schedule(block, w);
    memcpy(v, h, sizeof v);
    for (int i = 0; i < 64; i++) {
        uint32_t one = v[7] + (turn(v[4], 6) ^ turn(v[4], 11) ^ turn(v[4], 25)) +
                       ((v[4] & v[5]) ^ (~v[4] & v[6])) + rounds[i] + w[i];
        uint32_t two = (turn(v[0], 2) ^ turn(v[0], 13) ^ turn(v[0], 22)) +
                       ((v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]));

        memmove(v + 1, v, 7 * sizeof *v);
        v[4] += one;
        v[0] = one + two;
    }
    for (int i = 0; i < 8; i++)
        h[i] += v[i];
}

void sha256(Str bytes, uint8_t ret[SHA256_BYTES])
{
    uint32_t h[8] = { 0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                      0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19 };
    uint8_t tail[128] = { 0 };
    uint64_t bits = (uint64_t)bytes.n * 8;
    size_t whole = bytes.n / 64 * 64, rest = bytes.n - whole, last = rest < 56 ? 64 : 128;

    for (size_t at = 0; at < whole; at += 64)
        mix(h, (const uint8_t *)bytes.p + at);
    if (rest)
        memcpy(tail, bytes.p + whole, rest);
    tail[rest] = 0x80;
    for (int i = 0; i < 8; i++)
        tail[last - 1 - (size_t)i] = (uint8_t)(bits >> (8 * i));
    for (size_t at = 0; at < last; at += 64)
        mix(h, tail + at);
    for (int i = 0; i < SHA256_BYTES; i++)
        ret[i] = (uint8_t)(h[i / 4] >> (24 - 8 * (i % 4)));
}

/* key ^ pad, then the bytes. */
static void keyed(const uint8_t key[64], uint8_t pad, Str bytes, uint8_t ret[SHA256_BYTES])
{
    char *all = mem_alloc(64 + bytes.n);

    for (int i = 0; i < 64; i++)
        all[i] = (char)(key[i] ^ pad);
    if (bytes.n)
        memcpy(all + 64, bytes.p, bytes.n);
    sha256((Str){ all, 64 + bytes.n }, ret);
    mem_free(all);
}

void hmac_sha256(Str key, Str bytes, uint8_t ret[SHA256_BYTES])
{
    uint8_t block[64] = { 0 }, inner[SHA256_BYTES];

    if (key.n > sizeof block)
        sha256(key, block);
    else if (key.n)
        memcpy(block, key.p, key.n);
    keyed(block, 0x36, bytes, inner);
    keyed(block, 0x5c, (Str){ (const char *)inner, sizeof inner }, ret);
}

Str sha256_hex(Arena *a, Str bytes)
{
    static const char digits[] = "0123456789abcdef";
    uint8_t hash[SHA256_BYTES];
    char hex[SHA256_HEX];

    sha256(bytes, hash);
    for (int i = 0; i < SHA256_BYTES; i++) {
        hex[2 * i] = digits[hash[i] >> 4];
        hex[2 * i + 1] = digits[hash[i] & 15];
    }
    return str_dup(a, (Str){ hex, sizeof hex });
}

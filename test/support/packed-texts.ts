/** The content of {@link ZSTD} except the large one. */
export const PLAIN = Buffer.from(
  Array.from({ length: 200 }, (_, i) => `span ${(i * 7919) % 1000} of ${i}`).join('\n'),
);
/** 400 kB. */
export const LARGE = Buffer.from('jackdaw '.repeat(50_000));

/** Written by libzstd (level 3): Node before 22.15 has no encoder. */
export const ZSTD = {
  /** One frame with a content size. */
  sized: Buffer.from(
    'KLUv/WD3CvUUAAajQhOwV9IBAI1yYFjE3nJvKfdWxOFAQgA/ADoAwhJ2OB1pUdvmMRZb4IirhEysMUVRtEJix1ERtIdTjjl06kOzjvChrhsUsm4cLlLC6azSoNF1AYSAgYKAEEAgYHAQQxQS0owaRFMFClE9DDWo3ZRSYWdtlG6FhtU8TVRnM5QRzmwaQ4+ECbyOkDChyVAoEiOhQpUhkeL4rNmgjCMPf7w3l+fe6fr/eDZ5yGGmeTrpqA/3sER4C89wMTwLN8J0uEI4hKqaqGJam6KUsGbVKLoqVLjoIoqWFlXT9R/Hm8vz3On6P2ijYIOUpDNlG9RQ13+8N5fn3un6j+PN5XnudP0f3DhZZIUzYxe0UNcBgY6oMZzbfQPRRiJRiTwRkCjTewNo41mjpZEnaDRzRkkZSWJ0E0bJF1lcdLNFSRZZVnRTRZdiRLF7GIpiFkWSE30TI292///9//JFO4exYauh+mg4Z4aZGMpceKeFmRXaUHjnhJkS2kR4J4T0YOmg/Tg4Z4OZDMoseKeCmQnaIHjngZkG2hR4J4E0YCmg+zEBY66AMgFyAEf+zP7/+//1i3r7pD6WPvWhb875MuWTie9O+DLfs3HvzvYy2bNZ7071KL0SPftBb87zMs1D5WVhUrC52FxsdgOUssAe6YiiupAuqMH/tDaPlel04imMohRWRRRGCwpTwFBsq/y+t39v/56tRw6dXzK/f2//nq3Zps/l973tPT/fbD1y6Py6+f17XaeI/q4b603JmvH152OPcb7+fL1wYNNU3u49Y+gv70fecr7+ffz5eOUrpkevzXwAfWb8+/rz8efjz8frMZBP3Fo5cxN/h/HyS8dZenvFZZQeP+k2iZdH1pD9RToe8twhW0gqAzRhtIis4Bnj8X+CrAI=',
    'base64',
  ),
  /** Without content size, as a streaming writer sends it, and with a checksum. */
  streamed: Buffer.from(
    'KLUv/QRYDRUAVmNEFKAlxRwAWF7X/xchJGRlb25WfCoGRwBAADoArA5t5GamHsrITHCMUxIqmcomZ9ITklmWE7G5OGmpo1svm7fEx31XTGg6w+JER6zWlCo29iAgDPcNg0AhACAGAWGIYRAoBAQkI1qNVcy2Cwu5HmUVa6dKKrE1rdTuRWOu3kquNVWkIlZNVcouKk4iFEM2VCQSSVGUrFRGdBw+b1ZIwyEnHrEV//I8c7ru3b7/l2smFzpqq6vTlvu4xxLPxDM+xjVxJbbjizji7jY7qd7UkY54NVc5+y4uPvvMpLUpC3fb9y/LM6frutv3v9iMCRtUo1aVrVjjvn95njld927fvyzPnK7rbt//whlOHlli1bAjNnFfgYyoMaB8/c/RhhKZyAMRkCjTewNo41GjoZEmaDQzo0gZKWN0A6PIFylcdNOiSBYpVnSjopNiRLFPGIoSFkWWEz0TI+d/v//d/3JFPYeyIaOh+Gg4J8OYGGpeeMfCmBVqUHhnwpgSakR4B0LyYOmg5zg4p8GYDGoueEfBmAlqIHjnwJgGahR4h0AyYCmgzzEBE66ANgEyAEfu337/u//1ir59or5DH3HQZ2Y+kfJRxucGPpHvUbjnpj2R7FGs50Y9J72IXk+gZ+Y8kebZ8rghnFxMLiYXmQWlIrBHRSjqspMD3din9Xt4XMdSmGJtkGJtiGJtgGKfOZbpncf25+/N3zN06i17U/fm783fM/Sm6XnxPn+t7sf1qbdM3R+3P38vzxTR37Xwa0aEqktTscSYqnQVqRjYFBUVeslY5KW1KC1MVZqqdFUpeMVU6KUEf6ZmiHQV6arSVaWrShmj64QEVRl2VGIMib5oyFLaFYqiyPCkWhISHbkgK4t0BwSJdsOXcrdTYXwrd7sdauGRVb9Hj6U=',
    'base64',
  ),
  /** {@link LARGE}: four blocks. */
  large: Buffer.from(
    'KLUv/QBYhAAAQGphY2tkYXcgAQD1/8sLF0wAAAhqAQD8/zkQAkwAAAhqAQD8/zkQAkUAAAhqAQB82gMh',
    'base64',
  ),
} as const;

/** A zstd block of 12 bytes that expands to 128 KiB after the first of {@link ZSTD.large}. */
const GREEDY_BLOCK = Buffer.from('4c0000086a0100fcff391002', 'hex');

/** A zstd frame of that many bytes that expands about 11,000 times without declaring it. */
export function zstdBomb(bytes: number): Buffer {
  const begin = ZSTD.large.subarray(0, ZSTD.large.indexOf(GREEDY_BLOCK));
  const last = Buffer.from([0x01, 0x00, 0x00]);
  const blocks = Array.from({ length: Math.floor(bytes / GREEDY_BLOCK.length) }, () => GREEDY_BLOCK);
  return Buffer.concat([begin, ...blocks, last]);
}

import { formatBytes, formatCount } from '../format/number.js';
import type { Part } from './message.js';

type Media = Extract<Part, { readonly kind: 'media' }>;

/** Embedded media as a `data:` URL, or why it is not shown. */
export type ShownMedia =
  | { readonly kind: 'image' | 'audio'; readonly url: string }
  /** The payload was shortened; the complete one contains the media. */
  | { readonly kind: 'cut' }
  | { readonly kind: 'none'; readonly reason: string };

/** Characters of base64; larger media would freeze the page. */
const MOST_DATA = 8 * 1024 * 1024;
/** A small file may unpack to gigabytes. */
const MOST_PIXELS = 40_000_000;
/** Bytes searched for the size of a picture. */
const HEAD = 96 * 1024;
const AUDIO_TYPES: ReadonlyMap<string, string> = new Map([
  ['wav', 'audio/wav'],
  ['x-wav', 'audio/wav'],
  ['wave', 'audio/wav'],
  ['mp3', 'audio/mpeg'],
  ['mpeg', 'audio/mpeg'],
  ['ogg', 'audio/ogg'],
  ['opus', 'audio/ogg'],
  ['webm', 'audio/webm'],
  ['flac', 'audio/flac'],
  ['aac', 'audio/aac'],
  ['mp4', 'audio/mp4'],
  ['m4a', 'audio/mp4'],
]);

/** Decides whether media is shown: only embedded data of known formats and limited size, never other addresses. */
export function shownMedia({ what, type, source, data }: Media): ShownMedia {
  if (data === undefined) return none(source === undefined ? 'no data' : 'not embedded, so not loaded');
  if (data.endsWith('…')) return { kind: 'cut' };
  if (data.length > MOST_DATA) return none(`${formatBytes(bytesOf(data))}, too large to show`);
  const plain = data.replaceAll('-', '+').replaceAll('_', '/');
  if (!isBase64(plain)) return none('damaged base64');
  const [kind = what, format = ''] = (type ?? '').toLowerCase().split('/');
  if (kind === 'audio' || what === 'audio') {
    const mime = AUDIO_TYPES.get(format);
    return mime === undefined
      ? none(`${formatBytes(bytesOf(data))}, format cannot be played`)
      : { kind: 'audio', url: `data:${mime};base64,${plain}` };
  }
  // The bytes decide about pictures, not what the sender calls them.
  const picture = pictureOf(bytes(plain));
  if (picture === undefined) return none(`${formatBytes(bytesOf(data))}, format cannot be shown`);
  const { mime, width, height } = picture;
  if (width * height > MOST_PIXELS)
    return none(`${formatCount(width)} × ${formatCount(height)} pixels, too large to show`);
  return { kind: 'image', url: `data:${mime};base64,${plain}` };
}

function none(reason: string): ShownMedia {
  return { kind: 'none', reason };
}

/** Whether a text is base64 with padding or without. */
export function isBase64(text: string): boolean {
  return /^[A-Za-z0-9+/_-]+={0,2}$/.test(text) && text.replace(/=+$/, '').length % 4 !== 1;
}

/** Decoded size of base64. */
export function bytesOf(base64: string): number {
  return Math.floor((base64.replace(/=+$/, '').length * 3) / 4);
}

/** The first bytes of base64. */
function bytes(base64: string): Uint8Array {
  const length = Math.min(base64.length, Math.ceil(HEAD / 3) * 4);
  return Uint8Array.from(atob(base64.slice(0, length)), (character) => character.charCodeAt(0));
}

interface Picture {
  readonly mime: string;
  readonly width: number;
  readonly height: number;
}

/** Format and size of PNG, JPEG, GIF and WebP from their headers. */
function pictureOf(head: Uint8Array): Picture | undefined {
  const view = new DataView(head.buffer);
  const text = (from: number, to: number): string => String.fromCharCode(...head.subarray(from, to));
  try {
    if (text(1, 4) === 'PNG')
      return { mime: 'image/png', width: view.getUint32(16), height: view.getUint32(20) };
    if (text(0, 4) === 'GIF8')
      return { mime: 'image/gif', width: view.getUint16(6, true), height: view.getUint16(8, true) };
    if (text(0, 4) === 'RIFF' && text(8, 12) === 'WEBP') return webp(view, text(12, 16));
    return view.getUint16(0) === 0xffd8 ? jpeg(view) : undefined;
  } catch {
    // Shorter than its header.
    return undefined;
  }
}

function webp(view: DataView, chunk: string): Picture | undefined {
  const mime = 'image/webp';
  if (chunk === 'VP8 ')
    return { mime, width: view.getUint16(26, true) & 0x3fff, height: view.getUint16(28, true) & 0x3fff };
  if (chunk === 'VP8L') {
    const bits = view.getUint32(21, true);
    return { mime, width: (bits & 0x3fff) + 1, height: ((bits >> 14) & 0x3fff) + 1 };
  }
  const of24 = (at: number): number => view.getUint16(at, true) + (view.getUint8(at + 2) << 16) + 1;
  return chunk === 'VP8X' ? { mime, width: of24(24), height: of24(27) } : undefined;
}

/** Walks the segments of a JPEG to the one with its size. */
function jpeg(view: DataView): Picture | undefined {
  for (let at = 2; view.getUint8(at) === 0xff;) {
    const marker = view.getUint8(at + 1);
    const isSize = marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);
    if (isSize) return { mime: 'image/jpeg', height: view.getUint16(at + 5), width: view.getUint16(at + 7) };
    at += 2 + view.getUint16(at + 2);
  }
  return undefined;
}

const EMBEDDED = /!\[[^\]\n]{0,500}\]\((data:image\/[a-z+.-]{1,40};base64,[A-Za-z0-9+/_=-]*…?)(?:\)|$)/g;

/** Text, and the pictures embedded in its Markdown, which are longer than any text. */
export function textAndPictures(text: string): readonly (string | Media)[] {
  const found: (string | Media)[] = [];
  let from = 0;
  for (const match of text.includes('](data:') ? text.matchAll(EMBEDDED) : []) {
    const [all, url = ''] = match;
    const [head = '', data = ''] = url.split(',', 2);
    found.push(text.slice(from, match.index), {
      kind: 'media',
      what: 'image',
      type: head.slice('data:'.length, head.indexOf(';')),
      source: undefined,
      data,
    });
    from = match.index + all.length;
  }
  found.push(text.slice(from));
  return found.filter((each) => each !== '');
}

/**
 * JSON as sent: numbers keep their digits, such as `1.0` and `12345678901234567890`, and objects keep key
 * order and duplicate keys.
 */
export type Json =
  | { readonly kind: 'object'; readonly entries: readonly (readonly [string, Json])[] }
  | { readonly kind: 'array'; readonly items: readonly Json[] }
  | { readonly kind: 'string'; readonly text: string }
  /** As it stands in the text. */
  | { readonly kind: 'number'; readonly digits: string }
  | { readonly kind: 'literal'; readonly value: true | false | null };

/** An attribute for display. */
export interface Attribute {
  readonly key: string;
  readonly value: Json;
}

/** The receivers reject deeper bodies. */
const MAX_DEPTH = 2000;
const TOKEN =
  /[\s]*(?:([{}[\],:])|("(?:[^"\\]|\\.)*")|(-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)|(true|false|null))/y;
const LITERALS = { true: true, false: false, null: null } as const;

/** @throws SyntaxError if the text is not JSON */
export function parseJson(text: string): Json {
  const reader = new Reader(text);
  const value = reader.value(0);
  reader.end();
  return value;
}

/** Like `parseJson`, but undefined for invalid JSON. */
export function tryParseJson(text: string): Json | undefined {
  try {
    return parseJson(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

class Reader {
  private readonly token = new RegExp(TOKEN);
  private readonly source: string;
  private match: RegExpExecArray | null = null;

  constructor(source: string) {
    this.source = source;
    this.next();
  }

  value(depth: number): Json {
    if (depth > MAX_DEPTH) throw this.error();
    const [, mark, text, digits, literal] = this.match ?? [];
    if (mark === '{') return this.object(depth);
    if (mark === '[') return this.array(depth);
    this.next();
    if (text !== undefined) return { kind: 'string', text: JSON.parse(text) as string };
    if (digits !== undefined) return { kind: 'number', digits };
    if (literal !== undefined) return { kind: 'literal', value: LITERALS[literal as keyof typeof LITERALS] };
    throw this.error();
  }

  end(): void {
    if (this.match !== null || this.source.slice(this.token.lastIndex).trim() !== '') throw this.error();
  }

  private object(depth: number): Json {
    const entries: (readonly [string, Json])[] = [];
    this.next();
    while (this.match?.[1] !== '}') {
      if (entries.length > 0) this.expect(',');
      const key = this.match?.[2];
      if (key === undefined) throw this.error();
      this.next();
      this.expect(':');
      entries.push([JSON.parse(key) as string, this.value(depth + 1)]);
    }
    this.next();
    return { kind: 'object', entries };
  }

  private array(depth: number): Json {
    const items: Json[] = [];
    this.next();
    while (this.match?.[1] !== ']') {
      if (items.length > 0) this.expect(',');
      items.push(this.value(depth + 1));
    }
    this.next();
    return { kind: 'array', items };
  }

  private expect(mark: string): void {
    if (this.match?.[1] !== mark) throw this.error();
    this.next();
  }

  private next(): void {
    const at = this.token.lastIndex;
    this.match = this.token.exec(this.source);
    if (this.match === null) this.token.lastIndex = at;
  }

  private error(): SyntaxError {
    return new SyntaxError(`invalid JSON at character ${String(this.token.lastIndex)}`);
  }
}

/** Serializes without spaces, or indented by two spaces. */
export function printJson(value: Json, indent = false, margin = ''): string {
  const inner = indent ? `${margin}  ` : '';
  const [start, between, end] = indent ? [`\n${inner}`, `,\n${inner}`, `\n${margin}`] : ['', ',', ''];
  switch (value.kind) {
    case 'object': {
      if (value.entries.length === 0) return '{}';
      const lines = value.entries.map(
        ([key, each]) => `${JSON.stringify(key)}:${indent ? ' ' : ''}${printJson(each, indent, inner)}`,
      );
      return `{${start}${lines.join(between)}${end}}`;
    }
    case 'array':
      if (value.items.length === 0) return '[]';
      return `[${start}${value.items.map((each) => printJson(each, indent, inner)).join(between)}${end}]`;
    case 'string':
      return JSON.stringify(value.text);
    case 'number':
      return value.digits;
    case 'literal':
      return String(value.value);
  }
}

/** A member of an object, or undefined. For duplicate keys the last one counts, as in JavaScript. */
export function member(value: Json | undefined, key: string): Json | undefined {
  return value?.kind === 'object' ? value.entries.findLast(([name]) => name === key)?.[1] : undefined;
}

/** A string member. */
export function textOf(value: Json | undefined, key?: string): string | undefined {
  const found = key === undefined ? value : member(value, key);
  return found?.kind === 'string' ? found.text : undefined;
}

/** The items of an array, or undefined. */
export function itemsOf(value: Json | undefined): readonly Json[] | undefined {
  return value?.kind === 'array' ? value.items : undefined;
}

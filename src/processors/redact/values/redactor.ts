import type { JsonObject, JsonValue } from '../../../signal/attributes.js';
import { parseJson, serializeJson } from '../../../signal/json.js';
import { REDACTED, type KeyNames, type ValueHash } from '../keys.js';
import type { TextRedactor } from '../text/text-redactor.js';
import type { Gate } from './gate.js';

/** More levels than any accepted value has. Deeper values are removed without a search. */
const MOST_LEVELS = 600;
/** Keys that identify a short value after them. */
const CONTEXT_KEYS =
  /tel|phone|mobil|fax|cell|call|sms|whats|contact|version|release|build|key|secret|token|passw|pwd/i;
const SHORT = 256;
/** Codes of characters that a text in JSON begins with. */
const [BLANK, QUOTE, LIST, OBJECT] = [0x20, 0x22, 0x5b, 0x7b];
/** Maximum number of cached keys; senders choose them. */
const MOST_KNOWN = 4096;

interface KeyFacts {
  /** Whether the key itself, or its value because of the key, may have to be redacted. */
  readonly isSensitive: boolean;
  /** Context of a value for finders. */
  readonly before: string;
}

/** Redaction by key, in addition to matches in texts. */
export interface KeyRules {
  readonly names: KeyNames;
  readonly hashed: KeyNames;
  /** Null if nothing is hashed. */
  readonly hash: ValueHash | null;
}

/** Redacts texts and JSON values. Never changes a value in place; a value without matches is returned unchanged. */
export class Redactor {
  readonly #texts: TextRedactor;
  readonly #gate: Gate;
  readonly #keys: KeyRules;
  readonly #count: (pattern: string) => void;
  readonly #known = new Map<string, KeyFacts>();

  constructor(texts: TextRedactor, gate: Gate, keys: KeyRules, count: (pattern: string) => void) {
    this.#texts = texts;
    this.#gate = gate;
    this.#keys = keys;
    this.#count = count;
  }

  /** @param before as for {@link TextRedactor.redact} @param level of the value that the text is in */
  text(text: string, before = '', level = 0): string {
    if (looksLikeJson(text)) {
      if (!this.#gate.mayHoldText(before + text)) return text;
      const inside = this.#json(text, level);
      if (inside !== undefined) return inside;
    }
    return this.#texts.redact(text, before);
  }

  nullableText(text: string | null): string | null {
    return text === null ? null : this.text(text);
  }

  object<Value extends JsonObject | null>(object: Value, level = 0): Value {
    return (object === null ? null : this.#object(object, level)) as Value;
  }

  value(value: JsonValue, before = '', level = 0): JsonValue {
    switch (typeof value) {
      case 'string':
        return this.text(value, before, level);
      case 'number':
      case 'bigint':
        return this.#number(value, before);
      case 'object':
        if (value === null) return null;
        if (level > MOST_LEVELS) return this.#instead();
        return Array.isArray(value) ? this.#list(value, before, level) : this.#object(value, level);
      default:
        return value;
    }
  }

  /**
   * The replacement for the value of a key.
   *
   * @returns undefined if the key requires none
   */
  underKey(key: string, value: () => JsonValue): string | undefined {
    if (this.#keys.names.has(key)) return value() === null ? undefined : this.#instead();
    if (this.#keys.hash === null || !this.#keys.hashed.has(key)) return undefined;
    const hashed = value();
    if (hashed === null) return undefined;
    this.#count('hash');
    return this.#keys.hash.of(hashed);
  }

  /** The effect of a key on its value, and whether the key itself must be searched. Cached, because few keys recur often. */
  key(key: string): KeyFacts {
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const facts = {
      isSensitive: this.#keys.names.has(key) || this.#keys.hashed.has(key) || this.#texts.finds(key),
      before: CONTEXT_KEYS.test(key) ? `${key.slice(-SHORT).replaceAll(/([a-z])([A-Z])/g, '$1_$2')}: ` : '',
    };
    if (this.#known.size >= MOST_KNOWN) this.#known.clear();
    if (key.length <= SHORT) this.#known.set(key, facts);
    return facts;
  }

  #object(object: JsonObject, level: number): JsonObject {
    let changed: [string, JsonValue][] | undefined;
    const keys = Object.keys(object);
    keys.forEach((key, index) => {
      const value = object[key] ?? null;
      const { isSensitive, before } = this.key(key);
      const newKey = isSensitive ? this.#texts.redact(key) : key;
      const underKey = isSensitive ? this.underKey(key, () => value) : undefined;
      const newValue = underKey ?? this.value(value, before, level + 1);
      if (newKey === key && newValue === value && changed === undefined) return;
      changed ??= keys.slice(0, index).map((same) => [same, object[same] ?? null]);
      changed.push([newKey, newValue]);
    });
    return changed === undefined ? object : ofEntries(changed);
  }

  #list(list: JsonValue[], before: string, level: number): JsonValue[] {
    let changed: JsonValue[] | undefined;
    list.forEach((value, index) => {
      const newValue = this.value(value, before, level + 1);
      if (newValue !== value) changed ??= [...list];
      if (changed !== undefined) changed[index] = newValue;
    });
    return changed ?? list;
  }

  /** A number may be a card number. */
  #number(value: number | bigint, before: string): JsonValue {
    const text = String(value);
    const redacted = this.#texts.redact(text, before);
    return redacted === text ? value : redacted;
  }

  /** @returns undefined if the text is not JSON */
  #json(text: string, level: number): string | undefined {
    let value: JsonValue;
    try {
      value = parseJson(text);
    } catch {
      return undefined;
    }
    if ((typeof value !== 'object' && typeof value !== 'string') || value === null) return undefined;
    if (level > MOST_LEVELS) return this.#instead();
    const redacted = this.value(value, '', level + 1);
    return redacted === value ? text : serializeJson(redacted);
  }

  #instead(): string {
    this.#count('keys');
    return REDACTED;
  }
}

/** Redaction may make two keys equal; no value is lost. */
function ofEntries(entries: readonly (readonly [string, JsonValue])[]): JsonObject {
  const names = new Set<string>();
  return Object.fromEntries(
    entries.map(([key, value]) => {
      let name = key;
      for (let count = 2; names.has(name); count++) name = `${key} ${count}`;
      names.add(name);
      return [name, value];
    }),
  );
}

/** Whether a text may be a JSON list, object, or string with escapes. */
function looksLikeJson(text: string): boolean {
  // Nearly all texts end here.
  const code = text.charCodeAt(0);
  if (code > BLANK && code !== LIST && code !== OBJECT && code !== QUOTE) return false;
  const first = /^\s{0,16}([[{"])/.exec(text)?.[1];
  if (first === undefined || (first === '"' && !text.includes('\\'))) return false;
  return /[\]}"]\s{0,16}$/.test(text.slice(-17));
}

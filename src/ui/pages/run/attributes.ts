import { itemsOf, member, textOf, type Attribute, type Json } from '../../json/parse.js';

/** A list of attributes in OTLP/JSON, in the order they were sent. */
export function attributesOf(list: Json | undefined): readonly Attribute[] {
  return (itemsOf(list) ?? []).flatMap((item) => {
    const key = textOf(item, 'key');
    return key === undefined ? [] : [{ key, value: plainValue(member(item, 'value')) }];
  });
}

const NOTHING: Json = { kind: 'literal', value: null };

/** A value without the word for its type: `{intValue: "3"}` is `3`. */
function plainValue(value: Json | undefined): Json {
  if (value?.kind !== 'object') return NOTHING;
  const [type, inner] = value.entries[0] ?? ['', NOTHING];
  switch (type) {
    case 'intValue':
      return inner.kind === 'string' ? { kind: 'number', digits: inner.text } : inner;
    case 'arrayValue':
      return { kind: 'array', items: (itemsOf(member(inner, 'values')) ?? []).map(plainValue) };
    case 'kvlistValue':
      return {
        kind: 'object',
        entries: attributesOf(member(inner, 'values')).map(({ key, value: each }) => [key, each]),
      };
    default:
      return inner;
  }
}

import { Type, type Static } from 'typebox';
import { choice, secret, section } from '../../config/schema.js';
import { BUILTIN_NAMES } from './text/builtin.js';

/** What can be looked through, as records call it. */
const FIELDS = [
  'name',
  'error_message',
  'outcome',
  'input_data',
  'output_data',
  'metadata',
  'body',
  'attributes',
] as const;

const keyNames = (description: string) =>
  Type.Array(Type.String({ minLength: 1, maxLength: 256, description: 'A key.' }), {
    maxItems: 1000,
    default: [],
    description,
  });

export const redactConfig = section({
  builtin: Type.Array(choice(BUILTIN_NAMES, { description: 'A kind of data.' }), {
    uniqueItems: true,
    default: [],
    description: 'Kinds of data that are found by their form.',
  }),
  patterns: Type.Array(
    section({
      name: Type.String({
        pattern: '^[a-z][a-z0-9_]{0,62}$',
        description: 'By which it is counted. Of small letters, digits and underscores.',
      }),
      regex: Type.String({ minLength: 1, maxLength: 4096, description: 'A pattern of RE2.' }),
      replacement: Type.Optional(
        Type.String({
          maxLength: 256,
          description: 'What is put in its place; absent: its name in brackets.',
        }),
      ),
    }),
    { maxItems: 100, default: [], description: 'Patterns of your own.' },
  ),
  keys: keyNames('Keys whose values are replaced as a whole, at any depth.'),
  hash: Type.Optional(
    section(
      {
        keys: keyNames(
          'Keys whose values are replaced by a hash, at any depth, so that equal ones stay equal.',
        ),
        secret: secret({
          minLength: 16,
          description: 'What the hashes are made with. At least 16 characters.',
        }),
      },
      { isOptional: true, description: 'What is hashed (HMAC-SHA-256).' },
    ),
  ),
  fields: Type.Array(choice(FIELDS, { description: 'A field.' }), {
    uniqueItems: true,
    default: ['error_message', 'outcome', 'input_data', 'output_data', 'metadata', 'body', 'attributes'],
    description:
      'Where it is looked for. metadata: of traces and spans; body and attributes: of log records and points.',
  }),
});

export type RedactConfig = Static<typeof redactConfig>;
export type FieldName = (typeof FIELDS)[number];

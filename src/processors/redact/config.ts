import { Type, type Static } from 'typebox';
import { choice, secret, section } from '../../config/schema.js';
import { BUILTIN_NAMES } from './text/builtin.js';

/** Searchable fields, by their names in records. */
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
  Type.Array(Type.String({ minLength: 1, maxLength: 256, description: 'Key name.' }), {
    maxItems: 1000,
    default: [],
    description,
  });

export const redactConfig = section({
  builtin: Type.Array(choice(BUILTIN_NAMES, { description: 'Kind of data.' }), {
    uniqueItems: true,
    default: [],
    description: 'Built-in kinds of data to detect.',
  }),
  patterns: Type.Array(
    section({
      name: Type.String({
        pattern: '^[a-z][a-z0-9_]{0,62}$',
        description: 'Name used in metrics: lower-case letters, digits and underscores.',
      }),
      regex: Type.String({ minLength: 1, maxLength: 4096, description: 'Pattern in RE2 syntax.' }),
      replacement: Type.Optional(
        Type.String({
          maxLength: 256,
          description: 'Text that replaces matches. Default: the name in brackets.',
        }),
      ),
    }),
    { maxItems: 100, default: [], description: 'Custom patterns.' },
  ),
  keys: keyNames('Keys whose values are replaced completely at any depth.'),
  hash: Type.Optional(
    section(
      {
        keys: keyNames(
          'Keys whose values are replaced with a hash at any depth. Equal values keep equal hashes.',
        ),
        secret: secret({
          minLength: 16,
          description: 'Secret of the hashes, at least 16 characters.',
        }),
      },
      { isOptional: true, description: 'Values to replace with a hash (HMAC-SHA-256).' },
    ),
  ),
  fields: Type.Array(choice(FIELDS, { description: 'Field name.' }), {
    uniqueItems: true,
    default: ['error_message', 'outcome', 'input_data', 'output_data', 'metadata', 'body', 'attributes'],
    description:
      'Fields to search. Traces and spans have metadata; log records and points, body and attributes.',
  }),
});

export type RedactConfig = Static<typeof redactConfig>;
export type FieldName = (typeof FIELDS)[number];

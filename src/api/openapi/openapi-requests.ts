type JsonSchema = Readonly<Record<string, unknown>>;

const NULL = { type: 'null' };
/** Leap years of four digits in the supported range: divisible by 4, a full century only if divisible by 400. */
const LEAP_YEAR =
  '(?:1688|169[26]|(?:1[7-9]|21)(?:0[48]|[2468][048]|[13579][26])|20(?:0[048]|[2468][048]|[13579][26])|22(?:0[48]|[24][048]|[13][26]|52))';
const YEAR = '(?:168[5-9]|169\\d|(?:1[7-9]|2[01])\\d\\d|22[0-4]\\d|225[0-4])';
const DAY = `(?:${YEAR}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\\d|30)|02-(?:0[1-9]|1\\d|2[0-8]))|${LEAP_YEAR}-02-29)`;
const CLOCK = '(?:[01]\\d|2[0-3]):[0-5]\\d(?::[0-5]\\d(?:[.,]\\d{1,9})?)?';
const OFFSET = '(?:[Zz]|[+-](?:[01]\\d|2[0-3])(?::?[0-5]\\d)?)?';
/**
 * The format that `parseTime` accepts, except in parts of the first and last year: the range is limited to microseconds since 1970
 * that a double represents exactly.
 */
const TIME = `^${DAY}[Tt ]${CLOCK}${OFFSET}$`;
const TIME_NOTE = 'ISO 8601, from July 1684 to June 2255; UTC without an offset.';

/**
 * The schema of a body as a client may send it, derived from the schema that is validated: null means absent, and times are in years
 * that can be stored.
 */
export function asSent(schema: JsonSchema): JsonSchema {
  return sent(schema, true).schema;
}

interface Sent {
  readonly schema: JsonSchema;
  /** Whether a nested value accepts null although responses never contain null there. */
  readonly takesNulls: boolean;
}

function sent(schema: JsonSchema, isRoot: boolean): Sent {
  const { properties, required, items, anyOf } = schema;
  const wide: Record<string, unknown> = { ...withTimes(schema) };
  const nulls: boolean[] = [];
  const inside = (child: JsonSchema): JsonSchema => {
    const found = sent(child, false);
    nulls.push(found.takesNulls);
    return found.schema;
  };
  if (isSchema(items)) wide['items'] = inside(items);
  if (Array.isArray(anyOf)) wide['anyOf'] = (anyOf as JsonSchema[]).map(inside);
  if (isSchema(properties)) {
    const needed = new Set(Array.isArray(required) ? (required as string[]) : []);
    wide['properties'] = Object.fromEntries(
      Object.entries(properties as Readonly<Record<string, JsonSchema>>).map(([name, property]) => {
        const isNeeded = needed.has(name) && property['default'] === undefined;
        nulls.push(!isNeeded && !allowsNull(property));
        return [name, isNeeded ? inside(property) : orNull(inside(property))];
      }),
    );
  }
  const takesNulls = nulls.includes(true);
  // Responses use the same title for the schema without nulls.
  if (takesNulls && !isRoot && typeof schema['title'] === 'string') wide['title'] = `${schema['title']}Input`;
  return { schema: wide, takesNulls };
}

type NumberSchema = JsonSchema & {
  readonly minimum?: number;
  readonly maximum?: number;
  readonly refusesLess?: boolean;
};

/** The schema of a query parameter as it may be sent: numbers are clamped and cut rather than refused. */
export function asParameter(schema: JsonSchema): JsonSchema {
  // One text parameter per key.
  if (schema['prefix'] !== undefined) return { type: 'string', description: schema['description'] };
  const { minimum, maximum, refusesLess, ...rest } = schema as NumberSchema;
  if (rest['type'] !== 'integer' && rest['type'] !== 'number') return withTimes(schema);
  const bounds = [
    minimum === undefined || refusesLess === true ? '' : `less is ${String(minimum)}`,
    maximum === undefined ? '' : `more is ${String(maximum)}`,
    rest['type'] === 'integer' ? 'fractions are cut' : '',
  ].filter((text) => text !== '');
  const note = bounds.length === 0 ? '' : `A number: ${bounds.join(', ')}.`;
  return {
    ...rest,
    type: 'number',
    ...(refusesLess === true ? { minimum } : {}),
    description: [rest['description'], note].filter(Boolean).join(' '),
  };
}

function withTimes(schema: JsonSchema): JsonSchema {
  if (schema['format'] !== 'date-time') return schema;
  // More is accepted than the format allows: an offset or seconds may be missing.
  const rest = Object.fromEntries(Object.entries(schema).filter(([keyword]) => keyword !== 'format'));
  const { description } = schema;
  const note = typeof description === 'string' ? `${description} ${TIME_NOTE}` : TIME_NOTE;
  return { ...rest, pattern: TIME, description: note };
}

function orNull(schema: JsonSchema): JsonSchema {
  if (allowsNull(schema)) return schema;
  const { type, title } = schema;
  const values = schema['enum'];
  if (Array.isArray(values))
    return {
      ...schema,
      enum: [...(values as unknown[]), null],
      ...(type === undefined ? {} : { type: [type, 'null'] }),
    };
  if (typeof type === 'string' && title === undefined) return { ...schema, type: [type, 'null'] };
  return { anyOf: [schema, NULL] };
}

function allowsNull({ type, enum: values, anyOf }: JsonSchema): boolean {
  if (Array.isArray(type)) return type.includes('null');
  if (Array.isArray(values)) return values.includes(null);
  return Array.isArray(anyOf) && anyOf.some((schema: JsonSchema) => schema['type'] === 'null');
}

function isSchema(value: unknown): value is JsonSchema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

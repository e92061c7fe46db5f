import { Type } from 'typebox';
import { DIMENSIONS, MAX_IDENTITY, type Dimension } from '../../signal/run-context.js';
import { validationProblem } from '../../http/field-errors.js';
import { attributeReader } from '../../otlp/map/stored-attributes.js';
import {
  MAX_ATTRIBUTE_VALUE,
  type AttributeCondition,
  type FieldCondition,
  type RunField,
  type RunFilter,
  type TextSearch,
} from '../../storage/contracts/runs.js';

/** Maximum number of conditions on metadata, and on attributes, in a request. */
const MOST_CONDITIONS = 10;
/** Maximum length of a key with its operator. */
const MAX_KEY = 1024;

const text = (description: string) =>
  Type.Optional(Type.String({ minLength: 1, maxLength: MAX_IDENTITY, description }));

type Conditions = Readonly<Record<`${Dimension}${'!' | '~'}`, ReturnType<typeof text>>>;

/** `environment!=test` arrives as the parameter `environment!`. */
const ofDimensions = Object.fromEntries(
  DIMENSIONS.flatMap((field) => [
    [`${field}!`, text(`Runs with another \`${field}\`, or none: \`${field}!=VALUE\`.`)],
    [`${field}~`, text(`Runs whose \`${field}\` contains a text, in any case: \`${field}~=TEXT\`.`)],
  ]),
) as unknown as Conditions;

const keyed = (prefix: string, description: string) =>
  Type.Optional(
    Type.Record(Type.String(), Type.String({ maxLength: MAX_ATTRIBUTE_VALUE }), {
      maxProperties: MOST_CONDITIONS,
      propertyNames: Type.String({ maxLength: MAX_KEY }),
      prefix,
      description: `${description} At most ${MOST_CONDITIONS} conditions.`,
    }),
  );

/** Query parameters for conditions on fields of runs. */
export const conditionParameters = {
  ...ofDimensions,
  'metadata.KEY': keyed(
    'metadata.',
    'The value of KEY in the metadata of the run, for example `metadata.plan=pro`: a whole text, or the JSON of any other value. `metadata.plan!=pro` selects runs with another value or none, `metadata.plan~=pr` runs whose value contains the text, in any case.',
  ),
};

/** Query parameters for conditions on attributes of spans, which a search checks. */
export const attributeParameters = {
  'attribute.KEY': keyed(
    'attribute.',
    'The value of KEY in the attributes of a span or its resource, or in the `metadata` of a span of the batch route, for example `attribute.http.response.status_code=500`; compared like `metadata.KEY`. One span must meet all conditions with `=` and `~=`; `attribute.KEY!=VALUE` selects runs without any span that has this value.',
  ),
};

type Keyed = Readonly<Record<string, string>> | undefined;

type ConditionQuery = Readonly<Partial<Record<keyof Conditions, string>>> & {
  readonly 'metadata.KEY'?: Keyed;
};

/** The conditions of a request; none if absent. */
export function conditionFilter(query: ConditionQuery): Pick<RunFilter, 'where'> {
  const where: FieldCondition[] = [];
  const add = (field: RunField, test: FieldCondition['test'], value: string | undefined): void => {
    if (value !== undefined) where.push({ field, test, value });
  };
  for (const field of DIMENSIONS) {
    add(field, 'is_not', query[`${field}!`]);
    add(field, 'contains', query[`${field}~`]);
  }
  for (const { key, test, value } of keyedConditions('metadata.', query['metadata.KEY']))
    add(`metadata.${key}`, test, value);
  return where.length === 0 ? {} : { where };
}

/** The conditions on attributes of a request; none if absent. */
export function attributeFilter(query: { readonly 'attribute.KEY'?: Keyed }): Pick<TextSearch, 'attributes'> {
  const conditions = keyedConditions('attribute.', query['attribute.KEY']);
  return conditions.length === 0 ? {} : { attributes: { conditions, read: attributeReader() } };
}

/** `plan!=pro` arrives as the key `plan!`. @throws HttpProblem 422 for an empty key */
function keyedConditions(prefix: string, conditions: Keyed = {}): AttributeCondition[] {
  return Object.entries(conditions).map(([given, value]) => {
    const key = given.replace(/[!~]$/, '');
    if (key === '')
      throw validationProblem('query', [
        { field: prefix + given, message: `must name a key: ${prefix}KEY=VALUE` },
      ]);
    return { key, test: given.endsWith('!') ? 'is_not' : given.endsWith('~') ? 'contains' : 'is', value };
  });
}

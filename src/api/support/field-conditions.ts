import { Type } from 'typebox';
import { DIMENSIONS, MAX_IDENTITY, type Dimension } from '../../signal/run-context.js';
import type { FieldCondition, RunField, RunFilter } from '../../storage/contracts/runs.js';

/** Maximum number of metadata conditions in a request. */
const MOST_CONDITIONS = 10;

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

/** Query parameters for conditions on fields of runs. */
export const conditionParameters = {
  ...ofDimensions,
  'metadata.KEY': Type.Optional(
    Type.Record(Type.String(), Type.String({ maxLength: 1024 }), {
      maxProperties: MOST_CONDITIONS,
      prefix: 'metadata.',
      description: `The value of KEY in the metadata of the run, for example \`metadata.plan=pro\`: a whole text, or the JSON of any other value. \`metadata.plan!=pro\` selects runs with another value or none, \`metadata.plan~=pr\` runs whose value contains the text, in any case. At most ${MOST_CONDITIONS} conditions.`,
    }),
  ),
};

type ConditionQuery = Readonly<Partial<Record<keyof Conditions, string>>> & {
  readonly 'metadata.KEY'?: Readonly<Record<string, string>>;
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
  for (const [key, value] of Object.entries(query['metadata.KEY'] ?? {})) {
    const field = `metadata.${key.replace(/[!~]$/, '')}` as const;
    add(field, key.endsWith('!') ? 'is_not' : key.endsWith('~') ? 'contains' : 'is', value);
  }
  return where.length === 0 ? {} : { where };
}

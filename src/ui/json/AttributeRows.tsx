import { LongText } from '../messages/LongText.js';
import parts from '../parts/parts.module.css';
import styles from './json.module.css';
import { JsonView } from './JsonView.js';
import { printJson, type Attribute, type Json } from './parse.js';

/** Attributes in full, one per row. */
export function AttributeRows({
  attributes,
  onFilter,
}: {
  readonly attributes: readonly Attribute[];
  /** Offered for each single value. */
  readonly onFilter?: (key: string, value: string) => void;
}) {
  if (attributes.length === 0) return null;
  return (
    <dl className={styles['attributes']}>
      {attributes.map(({ key, value }, at) => (
        <div key={at}>
          <dt>{key}</dt>
          <dd>
            {value.kind === 'object' || value.kind === 'array' ? (
              <JsonView value={value} label={key} />
            ) : (
              <LongText text={value.kind === 'string' ? value.text : printJson(value)}>
                {(shown) => shown}
              </LongText>
            )}
            {onFilter && value.kind !== 'object' && value.kind !== 'array' && !isNull(value) && (
              <>
                {' '}
                <button
                  type="button"
                  className={parts['button']}
                  aria-label={`Filter by ${key}`}
                  onClick={() => {
                    onFilter(key, value.kind === 'string' ? value.text : printJson(value));
                  }}
                >
                  Filter
                </button>
              </>
            )}
          </dd>
        </div>
      ))}
    </dl>
  );
}

function isNull(value: Json): boolean {
  return value.kind === 'literal' && value.value === null;
}

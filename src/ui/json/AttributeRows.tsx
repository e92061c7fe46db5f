import { useState } from 'react';
import parts from '../parts/parts.module.css';
import styles from './json.module.css';
import { JsonView } from './JsonView.js';
import { printJson, tryParseJson, type Attribute, type Json } from './parse.js';
import { StringValue } from './StringValue.js';

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
            <AttributeValue label={key} value={value} />
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

function AttributeValue({ label, value }: { readonly label: string; readonly value: Json }) {
  const [parsed, setParsed] = useState<Json>();
  const shown = parsed ?? value;
  if (shown.kind === 'object' || shown.kind === 'array') return <JsonView value={shown} label={label} />;
  if (shown.kind !== 'string') return printJson(shown);
  const parse = (): boolean => {
    const found = tryParseJson(shown.text);
    setParsed(found);
    return found !== undefined;
  };
  return (
    <StringValue text={shown.text} label={label} onParse={parse}>
      {(text) => text}
    </StringValue>
  );
}

function isNull(value: Json): boolean {
  return value.kind === 'literal' && value.value === null;
}

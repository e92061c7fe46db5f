import { LongText } from '../messages/LongText.js';
import styles from './json.module.css';
import { JsonView } from './JsonView.js';
import { printJson, type Attribute } from './parse.js';

/** Attributes in full, one per row. */
export function AttributeRows({ attributes }: { readonly attributes: readonly Attribute[] }) {
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
          </dd>
        </div>
      ))}
    </dl>
  );
}

import { member, type Json } from '../../json/parse.js';
import { JsonView } from '../../json/JsonView.js';
import parts from '../../parts/parts.module.css';
import styles from './run.module.css';

const SIDES = [
  ['input_data', 'Input'],
  ['output_data', 'Output'],
  ['metadata', 'Metadata'],
] as const;

/** Input and output as sent. */
export function JsonTab({ detail }: { readonly detail: Json }) {
  const there = SIDES.flatMap(([key, name]) => {
    const value = member(detail, key);
    return value === undefined || (value.kind === 'literal' && value.value === null) ? [] : [{ name, value }];
  });
  if (there.length === 0) return <p className={parts['faint']}>This span has no input or output.</p>;
  return (
    <div className={styles['stack']}>
      {there.map(({ name, value }) => (
        <section key={name} className={styles['stack']}>
          <h3>{name}</h3>
          <JsonView value={value} label={name} />
        </section>
      ))}
    </div>
  );
}

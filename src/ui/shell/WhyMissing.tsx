import { Fragment, useState } from 'react';
import { formatCount } from '../format/number.js';
import styles from './Dialogs.module.css';
import { Overlay } from './Dialogs.js';
import { missingValues } from './missing-values.js';

/** Every reason for a dash on the page, those of the row where one is first: the mouse has them by pointing, this is for the keyboard. */
export function WhyMissing({ onClose }: { readonly onClose: () => void }) {
  // Looked for once, before the dialog takes the focus from the page.
  const [found] = useState(missingValues);
  const here = found.filter(({ isHere }) => isHere);
  const groups = [
    { name: 'In the row where you are', values: here },
    { name: here.length > 0 ? 'Elsewhere on the page' : '', values: found.filter(({ isHere }) => !isHere) },
  ];
  return (
    <Overlay title="Why values are missing" onClose={onClose}>
      {found.length === 0 && <p className={styles['hint']}>No value is missing on this page.</p>}
      {groups.map(
        ({ name, values }) =>
          values.length > 0 && (
            <Fragment key={name}>
              {name !== '' && <h3 className={styles['group']}>{name}</h3>}
              <dl className={styles['keys']}>
                {values.map(({ of, reason, count }) => (
                  <Fragment key={`${of} ${reason}`}>
                    <dt>{of === '' ? 'A value' : of}</dt>
                    <dd>
                      {reason}
                      {count > 1 && <span className={styles['times']}> · {formatCount(count)} times</span>}
                    </dd>
                  </Fragment>
                ))}
              </dl>
            </Fragment>
          ),
      )}
    </Overlay>
  );
}

import { Fragment } from 'react';
import styles from './Dialogs.module.css';
import { Overlay } from './Dialogs.js';

type Keys = readonly (readonly [keys: readonly string[], meaning: string])[];

const GROUPS: readonly (readonly [string, Keys])[] = [
  [
    'Everywhere',
    [
      [['Ctrl K'], 'Go to a page, to what has a name, or to what has an id'],
      [['?'], 'These keys'],
      [['-'], 'Why values are missing: the reasons of the dashes on the page'],
      [['Esc'], 'Close what is open'],
    ],
  ],
  [
    'Lists',
    [
      [['J', 'K'], 'Next and previous row'],
      [['Enter'], 'Open the row'],
      [['X'], 'Choose the row'],
      [['Space'], 'Show the row beside the list'],
      [['/'], 'Search'],
      [['.'], 'Show what came since the list is read'],
    ],
  ],
  [
    'A run',
    [
      [['↓ ↑', 'J K'], 'Next and previous span'],
      [['→ ←', 'L H'], 'Open and close; into the children, to the parent'],
      [['1 … 9'], 'Show so many levels; 0 for all'],
      [['/'], 'Search in the run'],
      [['N', 'P'], 'Next and previous hit'],
      [['E'], 'Next error'],
      [['C'], 'Critical path'],
      [['G'], 'Squeeze gaps in which nothing happened'],
      [['R'], 'Fold repeats'],
      [['Z'], 'Zoom to the span, and back to the whole run'],
      [['[', ']'], 'The run before and after it in the list'],
    ],
  ],
  [
    'Logs',
    [
      [['↓ ↑', 'J K'], 'Next and previous record, with all that it says'],
      [['Esc'], 'Close the record'],
      [['/'], 'Search'],
    ],
  ],
  [
    'The daemon',
    [
      [['J', 'K'], 'Next and previous edge of the table'],
      [['Space'], 'Show all figures of the edge'],
    ],
  ],
  [
    'Comparing runs',
    [
      [['↓ ↑', 'J K'], 'Next and previous span'],
      [['N', 'P'], 'Next and previous difference'],
    ],
  ],
];

/** Every key that does something. */
export function Help({ onClose }: { readonly onClose: () => void }) {
  return (
    <Overlay title="Keys" onClose={onClose}>
      {GROUPS.map(([group, keys]) => (
        <Fragment key={group}>
          <h3 className={styles['group']}>{group}</h3>
          <dl className={styles['keys']}>
            {keys.map(([names, meaning]) => (
              <Fragment key={meaning}>
                <dt>
                  {names.map((name) => (
                    <Fragment key={name}>
                      <kbd>{name}</kbd>{' '}
                    </Fragment>
                  ))}
                </dt>
                <dd>{meaning}</dd>
              </Fragment>
            ))}
          </dl>
        </Fragment>
      ))}
    </Overlay>
  );
}

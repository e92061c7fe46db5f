import { Fragment } from 'react';
import styles from './Dialogs.module.css';
import { Overlay } from './Dialogs.js';

type Keys = readonly (readonly [keys: readonly string[], meaning: string])[];

const GROUPS: readonly (readonly [string, Keys])[] = [
  [
    'Everywhere',
    [
      [['Ctrl K'], 'Search pages, names, ids, runs and logs'],
      [['?'], 'Keyboard shortcuts'],
      [['-'], 'Why values are missing (dashes on this page); not on a run'],
      [['Esc'], 'Close the open panel or dialog'],
    ],
  ],
  [
    'Lists',
    [
      [['J', 'K'], 'Next and previous row'],
      [['Enter'], 'Open the row'],
      [['X'], 'Select the row'],
      [['Space'], 'Preview the row'],
      [['/'], 'Search'],
      [['.'], 'Load new rows'],
    ],
  ],
  [
    'A run',
    [
      [['↓ ↑', 'J K'], 'Next and previous span'],
      [['→ ←', 'L H'], 'Expand and collapse; go to the children or the parent'],
      [['1 … 9'], 'Expand that many levels; 0 for all'],
      [['/'], 'Search this run'],
      [['N', 'P'], 'Next and previous match'],
      [['E'], 'Next error'],
      [['T'], 'Critical path'],
      [['G'], 'Collapse idle time'],
      [['R'], 'Group repeats'],
      [['Z'], 'Zoom to the span, and back to the whole run'],
      [['S'], 'Conversation, and back to the span'],
      [['F'], 'Full screen of the panel; Esc leaves it'],
      [['+', '-'], 'Rate the run up or down'],
      [['C'], 'Score the run with value and comment'],
      [['[', ']'], 'Previous and next run in the list; in a review, the unrated ones'],
    ],
  ],
  [
    'Logs',
    [
      [['↓ ↑', 'J K'], 'Next and previous record, with details'],
      [['Esc'], 'Close the record'],
      [['/'], 'Search'],
    ],
  ],
  [
    'The daemon',
    [
      [['J', 'K'], 'Next and previous edge of the table'],
      [['Space'], 'Show edge details'],
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

/** All keyboard shortcuts. */
export function Help({ onClose }: { readonly onClose: () => void }) {
  return (
    <Overlay title="Keyboard shortcuts" onClose={onClose}>
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

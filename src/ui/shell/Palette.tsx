import { useState, type KeyboardEvent } from 'react';
import { useLocation } from 'wouter';
import { cx } from '../parts/cx.js';
import parts from '../parts/parts.module.css';
import styles from './Dialogs.module.css';
import { Overlay } from './Dialogs.js';
import { useTargets, type Target } from './use-targets.js';

/** Navigates to pages, named items, runs and sessions. */
export function Palette({ onClose }: { readonly onClose: () => void }) {
  const [, navigate] = useLocation();
  const [query, setQuery] = useState('');
  const [at, setAt] = useState(0);
  const targets = useTargets(query.trim());
  const selected = Math.min(at, targets.length - 1);
  const go = (target: Target | undefined): void => {
    if (!target) return;
    onClose();
    navigate(target.path);
  };
  const press = (event: KeyboardEvent): void => {
    if (event.key === 'ArrowDown') setAt(Math.min(selected + 1, targets.length - 1));
    else if (event.key === 'ArrowUp') setAt(Math.max(selected - 1, 0));
    else if (event.key === 'Enter') go(targets[selected]);
    else return;
    event.preventDefault();
  };
  return (
    <Overlay title="Go to" onClose={onClose}>
      <input
        autoFocus
        className={cx(parts['field'], styles['search'])}
        role="combobox"
        aria-label="Search pages, agents, prompts, ids"
        aria-expanded="true"
        aria-controls="targets"
        aria-activedescendant={targets.length > 0 ? `target-${String(selected)}` : undefined}
        placeholder="Page, agent, prompt, alert, model, … or an id"
        value={query}
        onKeyDown={press}
        onChange={(event) => {
          setQuery(event.target.value);
          setAt(0);
        }}
      />
      <ul id="targets" role="listbox" aria-label="Results" className={styles['list']}>
        {targets.map((target, index) => (
          <li
            key={`${target.kind} ${target.name} ${target.path}`}
            id={`target-${String(index)}`}
            role="option"
            aria-selected={index === selected}
            className={styles['option']}
            onClick={() => {
              go(target);
            }}
          >
            <span>{target.name}</span>
            <small>{target.kind}</small>
          </li>
        ))}
      </ul>
      {targets.length === 0 && <p className={styles['hint']}>No results.</p>}
    </Overlay>
  );
}

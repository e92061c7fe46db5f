import { useState } from 'react';
import { Choice } from '../../parts/Choice.js';
import { CopyButton } from '../../parts/CopyButton.js';
import { FieldProblem, Form, TextField, useChange } from '../../parts/Form.js';
import parts from '../../parts/parts.module.css';
import { useMe } from '../../shell/Session.js';
import { expiryOf, LASTING, SCOPE_WORDS, withinScopes, type Scope } from './keys.js';
import styles from './Settings.module.css';

export interface KeyWish {
  readonly name: string;
  readonly scopes: Scope[];
  readonly expires_at?: string;
}

/** Makes a key, and shows it the one time that it can be shown. @param create gives the text of the key, and throws what the API refuses */
export function NewKey({
  create,
  stale,
}: {
  readonly create: (wish: KeyWish) => Promise<string>;
  readonly stale: string;
}) {
  const offered = withinScopes(useMe().scopes);
  const [isOpen, setOpen] = useState(false);
  const [made, setMade] = useState<{ readonly name: string; readonly key: string }>();
  const [name, setName] = useState('');
  const [days, setDays] = useState('');
  const [scopes, setScopes] = useState<readonly Scope[]>([]);
  const change = useChange(async () => {
    const end = expiryOf(days, Date.now());
    const key = await create({ name: name.trim(), scopes: [...scopes], ...(end && { expires_at: end }) });
    setMade({ name: name.trim(), key });
    setOpen(false);
    setName('');
    setScopes([]);
  }, [stale]);
  return (
    <>
      {made && <MadeKey name={made.name} text={made.key} onDone={() => setMade(undefined)} />}
      {!isOpen ? (
        <p className={parts['filters']}>
          <button type="button" className={parts['button']} onClick={() => setOpen(true)}>
            New key
          </button>
        </p>
      ) : (
        <Form
          label="New key"
          action="Make the key"
          change={change}
          isReady={name.trim() !== '' && scopes.length > 0}
          onCancel={() => setOpen(false)}
        >
          <TextField
            label="Name"
            value={name}
            help="Where it is used, so that you know later what stops when it is revoked."
            problem={change.fields['name']}
            onChange={setName}
          />
          <fieldset className={styles['scopes']}>
            <legend>It may</legend>
            {offered.map((scope) => (
              <label key={scope}>
                <input
                  type="checkbox"
                  checked={scopes.includes(scope)}
                  onChange={({ target }) =>
                    setScopes(target.checked ? [...scopes, scope] : scopes.filter((each) => each !== scope))
                  }
                />
                <span>
                  {scope} <small className={parts['faint']}>{SCOPE_WORDS[scope]}</small>
                </span>
              </label>
            ))}
            <FieldProblem text={change.fields['scopes']} />
          </fieldset>
          <div>
            <Choice label="It lasts" value={days} options={LASTING} onChange={setDays} />
            <FieldProblem text={change.fields['expires_at']} />
          </div>
        </Form>
      )}
    </>
  );
}

function MadeKey({
  name,
  text,
  onDone,
}: {
  readonly name: string;
  readonly text: string;
  readonly onDone: () => void;
}) {
  return (
    <section className={styles['secret']} aria-label={`Key ${name}`}>
      <h2>{name}</h2>
      <p>Keep it now: it is not stored and is not shown again.</p>
      <code>{text}</code>
      <div className={styles['buttons']}>
        <CopyButton label="Copy" text={() => text} />
        <button type="button" className={parts['button']} onClick={onDone}>
          I have kept it
        </button>
      </div>
    </section>
  );
}

import { useState } from 'react';
import { Choice } from '../../parts/Choice.js';
import { Check, Checks, FieldProblem, Form, NewButton, toggled, useChange } from '../../parts/Form.js';
import { TextField } from '../../parts/FormField.js';
import { ShownOnce } from '../../parts/ShownOnce.js';
import { useMe } from '../../shell/Session.js';
import { expiryOf, LASTING, SCOPE_LABELS, WITH_SESSION, withinScopes, type Scope } from './keys.js';

export interface KeyWish {
  readonly name: string;
  readonly scopes: Scope[];
  readonly expires_at?: string;
  readonly confirm_with_key?: string;
}

/** Creates a key and shows it once. @param create returns the key text; throws what the API refuses */
export function NewKey({
  create,
  stale,
}: {
  readonly create: (wish: KeyWish) => Promise<string>;
  readonly stale: string;
}) {
  const { scopes: own, browser_session: session } = useMe();
  const offered = withinScopes(own);
  const [isOpen, setOpen] = useState(false);
  const [made, setMade] = useState<{ readonly name: string; readonly key: string }>();
  const [name, setName] = useState('');
  const [days, setDays] = useState('');
  const [scopes, setScopes] = useState<readonly Scope[]>([]);
  const [proof, setProof] = useState('');
  const endOfSession = session?.expires_at;
  const needsProof = endOfSession !== undefined && days !== WITH_SESSION;
  const change = useChange(async () => {
    const end = days === WITH_SESSION ? endOfSession : expiryOf(days, Date.now());
    const key = await create({
      name: name.trim(),
      scopes: [...scopes],
      ...(end && { expires_at: end }),
      ...(needsProof && { confirm_with_key: proof.trim() }),
    });
    setMade({ name: name.trim(), key });
    setOpen(false);
    setName('');
    setScopes([]);
    setProof('');
  }, [stale]);
  return (
    <>
      {made && (
        <ShownOnce
          label={`Key ${made.name}`}
          title={made.name}
          text={made.key}
          onDone={() => setMade(undefined)}
        />
      )}
      {!isOpen ? (
        <NewButton label="New key" onOpen={() => setOpen(true)} />
      ) : (
        <Form
          label="New key"
          action="Create key"
          change={change}
          isReady={name.trim() !== '' && scopes.length > 0 && (!needsProof || proof.trim() !== '')}
          onCancel={() => setOpen(false)}
        >
          <TextField
            label="Name"
            value={name}
            hint="Where the key is used, so that you know what stops working when you revoke it."
            problem={change.fields['name']}
            onText={setName}
          />
          <Checks legend="Permissions" problem={change.fields['scopes']}>
            {offered.map((scope) => (
              <Check
                key={scope}
                name={scope}
                about={SCOPE_LABELS[scope]}
                checked={scopes.includes(scope)}
                onChange={(isIn) => setScopes(toggled(scopes, scope, isIn))}
              />
            ))}
          </Checks>
          <div>
            <Choice
              label="Expires after"
              value={days}
              options={endOfSession === undefined ? LASTING : { ...LASTING, [WITH_SESSION]: 'this session' }}
              onChange={setDays}
            />
            <FieldProblem text={change.fields['expires_at']} />
          </div>
          {needsProof && (
            <TextField
              label="Your API key"
              type="password"
              value={proof}
              hint="The new key outlives this session; confirm it with an existing key."
              problem={change.fields['confirm_with_key']}
              onText={setProof}
            />
          )}
        </Form>
      )}
    </>
  );
}

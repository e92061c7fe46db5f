import { useId, useState } from 'react';
import { useLocation } from 'wouter';
import { api, bodyOf, type Schemas } from '../../api/client.js';
import { TextDiff } from '../../messages/TextDiff.js';
import { Form, FieldProblem, useChange } from '../../parts/Form.js';
import { SelectField, TextField } from '../../parts/FormField.js';
import parts from '../../parts/parts.module.css';
import { promptPath } from '../../state/path.js';
import { messagesIn, textOf, variablesIn } from './load.js';
import styles from './Prompt.module.css';

type Message = Schemas['PromptMessage'];
const ROLES = ['system', 'user', 'assistant'];
const TYPES = { text: 'Text', chat: 'Chat: messages with roles' } as const;

/** Creates a prompt, or the next version of one. */
export function EditPrompt({
  base,
  newest,
  onDone,
}: {
  /** The version to start from; absent for a new prompt. */
  readonly base?: Schemas['Prompt'];
  /** The newest version of the prompt. */
  readonly newest?: number;
  readonly onDone: () => void;
}) {
  const [, navigate] = useLocation();
  const [name, setName] = useState(base?.name ?? '');
  const [version, setVersion] = useState(String(newest === undefined ? 1 : newest + 1));
  const [type, setType] = useState<keyof typeof TYPES>(base?.type ?? 'text');
  const [text, setText] = useState(base?.type === 'text' ? base.template_text : '');
  const [messages, setMessages] = useState<readonly Message[]>(
    base ? messagesIn(base) : [{ role: 'system', content: '' }],
  );
  const [description, setDescription] = useState('');
  const template =
    type === 'text' ? { template_text: text } : { messages: messages.map((message) => ({ ...message })) };
  const whole = type === 'text' ? text : textOf({ type, template_text: JSON.stringify(messages) });
  const change = useChange(async () => {
    const about = description.trim() === '' ? {} : { description: description.trim() };
    const body = { name, version: Number(version), ...template, ...about };
    await bodyOf(api.POST('/api/v1/dashboard/prompts/', { body }));
    onDone();
    navigate(promptPath(name));
  }, ['prompts', 'prompt']);
  return (
    <Form
      label={base === undefined ? 'New prompt' : `New version from v${String(base.version)}`}
      action={base === undefined ? 'Create prompt' : `Create v${version}`}
      change={change}
      isReady={name.trim() !== '' && /^\d+$/.test(version)}
      onCancel={onDone}
    >
      {base === undefined && (
        <TextField
          label="Name"
          value={name}
          hint="Programs read the prompt by it, for example support/answer."
          problem={change.fields['name']}
          onText={setName}
        />
      )}
      <TextField
        label="Version"
        inputMode="numeric"
        value={version}
        hint="A number above all earlier versions."
        problem={change.fields['version']}
        onText={setVersion}
      />
      <SelectField
        label="Type"
        value={type}
        options={TYPES}
        onText={(chosen) => {
          setType(chosen === 'chat' ? 'chat' : 'text');
        }}
      />
      {type === 'text' ? (
        <TextArea label="Template" value={text} problem={change.fields['template_text']} onText={setText} />
      ) : (
        <Messages messages={messages} problem={change.fields['messages']} onChange={setMessages} />
      )}
      <Variables names={variablesIn(whole)} />
      <TextField
        label="Description"
        value={description}
        hint="What this version changes."
        problem={change.fields['description']}
        onText={setDescription}
      />
      {base !== undefined && whole !== textOf(base) && (
        <TextDiff before={textOf(base)} after={whole} label={`Changes from v${String(base.version)}`} />
      )}
    </Form>
  );
}

/** The variables of a template. */
export function Variables({ names }: { readonly names: readonly string[] }) {
  if (names.length === 0)
    return (
      <p className={styles['variables']}>No variables. Write {'{{name}}'} where programs fill in a value.</p>
    );
  return (
    <p className={styles['variables']}>
      Variables:{' '}
      {names.map((name) => (
        <code key={name}>{name}</code>
      ))}
    </p>
  );
}

function Messages({
  messages,
  problem,
  onChange,
}: {
  readonly messages: readonly Message[];
  readonly problem: string | undefined;
  readonly onChange: (messages: readonly Message[]) => void;
}) {
  const put = (at: number, changed: Partial<Message>) => {
    onChange(messages.map((message, i) => (i === at ? { ...message, ...changed } : message)));
  };
  return (
    <>
      {messages.map(({ role, content }, at) => (
        <div key={at} className={styles['message']}>
          <TextField
            label={`Role ${String(at + 1)}`}
            value={role}
            options={ROLES}
            onText={(text) => {
              put(at, { role: text });
            }}
          />
          <TextArea
            label={`Message ${String(at + 1)}`}
            value={content}
            onText={(text) => {
              put(at, { content: text });
            }}
          />
          {messages.length > 1 && (
            <button
              type="button"
              className={parts['button']}
              aria-label={`Remove message ${String(at + 1)}`}
              onClick={() => {
                onChange(messages.filter((_, i) => i !== at));
              }}
            >
              Remove
            </button>
          )}
        </div>
      ))}
      <FieldProblem text={problem} />
      <button
        type="button"
        className={parts['button']}
        onClick={() => {
          onChange([...messages, { role: 'user', content: '' }]);
        }}
      >
        Add message
      </button>
    </>
  );
}

function TextArea({
  label,
  value,
  problem,
  onText,
}: {
  readonly label: string;
  readonly value: string;
  readonly problem?: string | undefined;
  readonly onText: (text: string) => void;
}) {
  const id = useId();
  return (
    <div className={parts['fieldRow']}>
      <label htmlFor={id}>{label}</label>
      <textarea
        id={id}
        className={parts['field']}
        rows={Math.min(24, Math.max(4, value.split('\n').length + 1))}
        spellCheck={false}
        value={value}
        aria-invalid={problem !== undefined}
        onChange={({ target }) => {
          onText(target.value);
        }}
      />
      <FieldProblem text={problem} />
    </div>
  );
}

import { BookOpen } from 'lucide-react';
import { useState } from 'react';
import { CopyButton } from '../parts/CopyButton.js';
import parts from '../parts/parts.module.css';
import { Overlay } from '../shell/Dialogs.js';
import { LongText } from './LongText.js';
import { Markdown } from './Markdown.js';
import styles from './messages.module.css';

/** Opens a text in a wide dialog, as Markdown or as sent. */
export function ReadButton({
  text,
  label,
  className,
}: {
  readonly text: string;
  readonly label: string;
  readonly className: string | undefined;
}) {
  const [isOpen, setOpen] = useState(false);
  const [isPlain, setPlain] = useState(false);
  return (
    <>
      <button
        type="button"
        className={className}
        aria-label={`Read ${label}`}
        onClick={() => {
          setOpen(true);
        }}
      >
        <BookOpen size={12} aria-hidden="true" /> Read
      </button>
      {isOpen && (
        <Overlay
          title={label}
          isWide
          onClose={() => {
            setOpen(false);
          }}
        >
          <div className={styles['readingTools']}>
            <button
              type="button"
              className={parts['button']}
              aria-pressed={isPlain}
              onClick={() => {
                setPlain(!isPlain);
              }}
            >
              Plain text
            </button>
            <CopyButton label="Copy" text={() => text} />
          </div>
          <LongText text={text}>
            {(shown) =>
              isPlain ? <pre className={styles['plain']}>{shown}</pre> : <Markdown text={shown} />
            }
          </LongText>
        </Overlay>
      )}
    </>
  );
}

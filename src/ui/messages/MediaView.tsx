import { FileImage } from 'lucide-react';
import { createContext, use, useMemo } from 'react';
import parts from '../parts/parts.module.css';
import { shownMedia } from './media.js';
import type { Part } from './message.js';
import styles from './messages.module.css';

/** Loads the complete payload that a message was shortened in. */
export const LoadWhole = createContext<(() => void) | undefined>(undefined);

/** An embedded picture or sound; anything else is named. */
export function MediaView({ part }: { readonly part: Extract<Part, { readonly kind: 'media' }> }) {
  const shown = useMemo(() => shownMedia(part), [part]);
  const loadWhole = use(LoadWhole);
  if (shown.kind === 'image')
    return <img className={styles['picture']} src={shown.url} alt={`Embedded ${part.what}`} loading="lazy" />;
  if (shown.kind === 'audio')
    return (
      <audio className={styles['sound']} src={shown.url} controls preload="metadata" aria-label="Audio" />
    );
  return (
    <div className={styles['media']}>
      <FileImage size={16} aria-hidden="true" />
      <span>
        {part.what}
        {part.type !== undefined && ` · ${part.type}`}
        {part.source !== undefined && ` · ${part.source}`}
        {shown.kind === 'none' && ` (${shown.reason})`}
      </span>
      {shown.kind === 'cut' && loadWhole && (
        <button type="button" className={parts['button']} onClick={loadWhole}>
          Load {part.what}
        </button>
      )}
    </div>
  );
}

import { CircleSlash, KeyRound, Unplug, type LucideIcon } from 'lucide-react';
import type { ReactNode } from 'react';
import { ApiError } from '../api/client.js';
import { formatDuration } from '../format/duration.js';
import styles from './parts.module.css';

interface NoticeProps {
  readonly icon: LucideIcon;
  readonly title: string;
  readonly children?: ReactNode;
  readonly isAlert?: boolean;
  /** Whether it is the only content of the page. */
  readonly isPage?: boolean;
}

function Notice({ icon: Icon, title, children, isAlert = false, isPage = false }: NoticeProps) {
  const Title = isPage ? 'h1' : 'h2';
  return (
    <div className={styles['notice']} role={isAlert ? 'alert' : undefined}>
      <Icon size={28} strokeWidth={1.5} aria-hidden="true" />
      <Title>{title}</Title>
      {children}
    </div>
  );
}

/** An empty state: says what is missing and how to get it. */
export function Empty({ title, isPage = false, children }: Omit<NoticeProps, 'icon' | 'isAlert'>) {
  return (
    <Notice icon={CircleSlash} title={title} isPage={isPage}>
      {children}
    </Notice>
  );
}

/** An error with its message and a retry button. */
export function Failure({
  error,
  retry,
  isPage = false,
}: {
  readonly error: Error;
  readonly retry?: () => void;
  readonly isPage?: boolean;
}) {
  if (error instanceof ApiError && error.status === 403) {
    return (
      <Notice icon={KeyRound} title="Your key is not allowed to see this" isAlert isPage={isPage}>
        <p>{error.message}</p>
        <p>Log in with a key that has the required scope, or ask an administrator.</p>
      </Notice>
    );
  }
  const reason =
    error instanceof ApiError ? error.message : 'The daemon did not respond. It may be stopped or starting.';
  const wait = error instanceof ApiError ? error.retryAfter : undefined;
  return (
    <Notice icon={Unplug} title="Loading failed" isAlert isPage={isPage}>
      <p>{reason}</p>
      {wait !== undefined && <p>Try again in {formatDuration(wait * 1000)}.</p>}
      {retry && (
        <button type="button" className={styles['button']} onClick={retry}>
          Try again
        </button>
      )}
    </Notice>
  );
}

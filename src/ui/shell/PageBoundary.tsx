import { Component, type ReactNode } from 'react';
import { Failure } from '../parts/states.js';
import { useIsLost } from './Session.js';

/** Keeps the shell if a page fails, for example because an update removed its code. */
export function PageBoundary({ children }: { readonly children: ReactNode }) {
  return <Boundary isLost={useIsLost()}>{children}</Boundary>;
}

interface Props {
  readonly isLost: boolean;
  readonly children: ReactNode;
}

class Boundary extends Component<Props, { readonly error: Error | undefined }> {
  override state: { readonly error: Error | undefined } = { error: undefined };

  static getDerivedStateFromError(error: Error) {
    return { error };
  }

  override componentDidUpdate(before: Props): void {
    // Browsers may remember that the code of a page could not be loaded.
    if (before.isLost && !this.props.isLost && this.state.error !== undefined) location.reload();
  }

  override render(): ReactNode {
    const { error } = this.state;
    if (error === undefined) return this.props.children;
    const reload = (): void => {
      location.reload();
    };
    return <Failure isPage error={error} retry={reload} />;
  }
}

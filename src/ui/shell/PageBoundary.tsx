import { Component, type ReactNode } from 'react';
import { Failure } from '../parts/states.js';

interface Props {
  readonly children: ReactNode;
}

/** Keeps the shell if a page fails, for example because an update removed its code. */
export class PageBoundary extends Component<Props, { readonly error: Error | undefined }> {
  override state: { readonly error: Error | undefined } = { error: undefined };

  static getDerivedStateFromError(error: Error) {
    return { error };
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

import type { ReactNode } from 'react';
import { Dialog, Heading, Modal, ModalOverlay } from 'react-aria-components';
import { cx } from '../parts/cx.js';
import styles from './Dialogs.module.css';

/** A modal dialog. Escape and a click outside close it and restore the focus. */
export function Overlay({
  title,
  isWide = false,
  onClose,
  children,
}: {
  readonly title: string;
  readonly isWide?: boolean;
  readonly onClose: () => void;
  readonly children: ReactNode;
}) {
  const change = (isOpen: boolean): void => {
    if (!isOpen) onClose();
  };
  return (
    <ModalOverlay className={styles['veil'] ?? ''} isOpen isDismissable onOpenChange={change}>
      <Modal className={cx(styles['modal'], isWide && styles['wide'])}>
        <Dialog className={styles['dialog'] ?? ''}>
          <Heading slot="title" className={styles['title'] ?? ''}>
            {title}
          </Heading>
          {children}
        </Dialog>
      </Modal>
    </ModalOverlay>
  );
}

import type { ReactNode } from 'react';
import { Dialog, Heading, Modal, ModalOverlay } from 'react-aria-components';
import styles from './Dialogs.module.css';

/** A modal dialog. Escape and a click outside close it and restore the focus. */
export function Overlay({
  title,
  onClose,
  children,
}: {
  readonly title: string;
  readonly onClose: () => void;
  readonly children: ReactNode;
}) {
  const change = (isOpen: boolean): void => {
    if (!isOpen) onClose();
  };
  return (
    <ModalOverlay className={styles['veil'] ?? ''} isOpen isDismissable onOpenChange={change}>
      <Modal className={styles['modal'] ?? ''}>
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

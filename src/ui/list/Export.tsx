import { Download } from 'lucide-react';
import { useEffect, useRef, useState } from 'react';
import { formatExact } from '../format/number.js';
import parts from '../parts/parts.module.css';
import { Popover } from '../parts/Popover.js';
import { FILE_TYPES, MAX_ROWS, writeFile, type FileFormat } from './export-file.js';

/** What a list exports. */
export interface Exported {
  /** Name of the file without its extension. */
  readonly name: string;
  /** Describes the rows. */
  readonly about: string;
  /**
   * @param onRows called with the number of rows so far
   * @throws ApiError
   */
  readonly read: (format: FileFormat, onRows: (count: number) => void, signal: AbortSignal) => Promise<Blob>;
}

/** Exports a list page by page, for lists of which the API has no file. */
export function exportedPages(
  name: string,
  pages: (signal: AbortSignal) => AsyncIterable<readonly object[]>,
): Exported {
  return {
    name,
    about: `All rows that match the filters, up to ${formatExact(MAX_ROWS)}, with times in UTC.`,
    read: (format, onRows, signal) => writeFile(format, pages(signal), onRows),
  };
}

/** Downloads a file. */
export function saveFile(name: string, file: Blob): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(file);
  link.download = name;
  link.click();
  URL.revokeObjectURL(link.href);
}

/** Exports a list as a file. */
export function Export({ exported: { name, about, read } }: { readonly exported: Exported }) {
  const [progress, setProgress] = useState('');
  const [isBusy, setBusy] = useState(false);
  const stop = useRef<AbortController>(undefined);
  useEffect(() => () => stop.current?.abort(), []);
  const save = async (format: FileFormat): Promise<void> => {
    const { signal } = (stop.current = new AbortController());
    setBusy(true);
    setProgress('Saving…');
    let rows = 0;
    try {
      const file = await read(
        format,
        (count) => {
          rows = count;
          setProgress(`Saving… ${formatExact(count)} rows so far`);
        },
        signal,
      );
      saveFile(`${name}.${format}`, file);
      setProgress(rows < MAX_ROWS ? '' : `Saved the first ${formatExact(rows)} rows. Narrow the filters.`);
    } catch (error) {
      setProgress(
        signal.aborted ? 'Stopped.' : error instanceof Error ? error.message : 'Could not save the file.',
      );
    }
    setBusy(false);
  };
  return (
    <Popover icon={Download} label="Export">
      {() => (
        <>
          {(Object.keys(FILE_TYPES) as readonly FileFormat[]).map((format) => (
            <button
              key={format}
              type="button"
              className={parts['button']}
              disabled={isBusy}
              onClick={() => void save(format)}
            >
              {format.toUpperCase()}
            </button>
          ))}
          {isBusy && (
            <button type="button" className={parts['button']} onClick={() => stop.current?.abort()}>
              Stop
            </button>
          )}
          <small className={parts['faint']}>{about}</small>
          <small role="status">{progress}</small>
        </>
      )}
    </Popover>
  );
}

/** The Jackdaw logo. */
export function Jackdaw({ size }: { readonly size: number }) {
  return (
    <svg width={size} height={size} viewBox="0 0 32 32" aria-hidden="true">
      <rect width="32" height="32" rx="8" fill="#1d242e" />
      <path d="M6 24c1-9 6-16 13-16 5 0 8 3 8 7l2 2-3 1c-1 5-5 8-10 8-2 0-3-.4-4-1l-6 3z" fill="#4a5568" />
      <path d="M12 25c0-7 3-12 9-14 3 1 4 3 4 5-1 6-5 10-10 10-1 0-2-.4-3-1z" fill="#aab4c0" />
      <circle cx="22.5" cy="13.5" r="2.2" fill="#eef4fa" />
      <circle cx="22.5" cy="13.5" r="1" fill="#11161d" />
    </svg>
  );
}

import type { ComponentChildren } from 'preact';

interface LiveRegionProps {
  id: string;
  /** Path of the event stream with the content. */
  address: string;
  /** The state that the page shows: the stream begins with what came after it. Absent: the region is not live. */
  cursor: string | undefined;
  /** Whether a reader at the end of the page stays at its end. */
  follow?: boolean;
  /** For screen readers, which announce additions. */
  label: string;
  children: ComponentChildren;
}

/** A part of a page that the script keeps up to date. Elements with an id stay in place when they do not change. */
export function LiveRegion({ id, address, cursor, follow = false, label, children }: LiveRegionProps) {
  if (cursor === undefined) return <>{children}</>;
  return (
    <div
      id={id}
      role="log"
      aria-live="polite"
      aria-label={label}
      data-live={address}
      data-cursor={cursor}
      data-follow={follow ? '' : undefined}
    >
      {children}
    </div>
  );
}

export const openApprovalsId = 'open-approvals';

/** The number of pending approvals. Live pages keep it up to date for the agents that they follow. */
export function OpenApprovals({ count }: { count: number }) {
  if (count === 0) return null;
  return (
    <span class="count">
      {count}
      <span class="visually-hidden"> pending</span>
    </span>
  );
}

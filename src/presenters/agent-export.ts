import type { Counts } from '../domain/counts.ts';
import type { ExportStage } from '../domain/exports.ts';

/** How far an export is, and its report when it is done. Times in milliseconds. */
export interface ExportReport {
  id: string;
  handle: string;
  state: 'under way' | 'done';
  stage: ExportStage;
  begun_at: number;
  done_at: number | null;
  /** When the archive is removed; an export that is not done by then is given up. */
  expires_at: number;
  /** What is in it, by kind. */
  exported: Counts;
  /** Files whose bytes the store had lost. */
  missing_files: readonly string[];
  /** Of the archive. */
  size_bytes: number | null;
  sha256: string | null;
}

/** @param row as the repository gives it. */
export function presentExport(row: {
  id: string;
  handle: string;
  stage: ExportStage;
  created_at: number;
  done_at: number | null;
  expires_at: number;
  counts: Counts;
  missing_files: readonly string[];
  size_bytes: number | null;
  sha256: string | null;
}): ExportReport {
  const { id, handle, stage, created_at, done_at, expires_at, counts, missing_files, size_bytes, sha256 } =
    row;
  return {
    id,
    handle,
    state: done_at === null ? 'under way' : 'done',
    stage,
    begun_at: created_at,
    done_at,
    expires_at,
    exported: counts,
    missing_files,
    size_bytes,
    sha256,
  };
}

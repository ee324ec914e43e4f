import type { Counts, ExportStage } from '../domain/agents/erasure-and-export.ts';
import { presentProgress, type Progress, type ProgressRow } from './progress.ts';

/** How far an export is, and its report when it is done. Times in milliseconds. */
export interface ExportReport extends Progress<ExportStage> {
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

type ExportRow = ProgressRow<ExportStage> &
  Pick<ExportReport, 'expires_at' | 'missing_files' | 'size_bytes' | 'sha256'> & { counts: Counts };

/** @param row as the repository gives it. */
export function presentExport(row: ExportRow): ExportReport {
  const { expires_at, counts, missing_files, size_bytes, sha256 } = row;
  return { ...presentProgress(row), expires_at, exported: counts, missing_files, size_bytes, sha256 };
}

import {
  type Counts,
  type ErasureStage,
  type ExportStage,
  keptByErasure,
} from '../domain/agents/erasure-and-export.ts';

/** The progress of an export or erasure. Times in milliseconds. */
export interface Progress<Stage> {
  id: string;
  handle: string;
  state: 'in_progress' | 'done';
  stage: Stage;
  begun_at: number;
  done_at: number | null;
}

/** The stored columns of an export or erasure. */
export interface ProgressRow<Stage> {
  id: string;
  handle: string;
  stage: Stage;
  created_at: number;
  done_at: number | null;
}

/** Returns the common fields of an export or erasure report. */
function presentProgress<Stage>(row: ProgressRow<Stage>): Progress<Stage> {
  const { id, handle, stage, created_at, done_at } = row;
  return {
    id,
    handle,
    state: done_at === null ? 'in_progress' : 'done',
    stage,
    begun_at: created_at,
    done_at,
  };
}

/** The progress of an erasure, and its report when it is done. Times in milliseconds. */
export interface ErasureReport extends Progress<ErasureStage> {
  /** Number of messages that were searched for those of the agent. */
  examined: number;
  erased: Counts;
  kept: readonly { what: string; why: string }[];
}

type ErasureRow = ProgressRow<ErasureStage> & { examined: number; counts: Counts };

/** Returns the report of an erasure. */
export function presentErasure(row: ErasureRow): ErasureReport {
  const { examined, counts } = row;
  return { ...presentProgress(row), examined, erased: counts, kept: keptByErasure };
}

/** The progress of an export, and its report when it is done. Times in milliseconds. */
export interface ExportReport extends Progress<ExportStage> {
  /** When the export is removed, finished or not. */
  expires_at: number;
  /** Number of exported records by kind. */
  exported: Counts;
  /** Ids of files whose bytes were missing. */
  missing_files: readonly string[];
  /** Of the archive. */
  size_bytes: number | null;
  sha256: string | null;
}

type ExportRow = ProgressRow<ExportStage> &
  Pick<ExportReport, 'expires_at' | 'missing_files' | 'size_bytes' | 'sha256'> & { counts: Counts };

/** Returns the report of an export. */
export function presentExport(row: ExportRow): ExportReport {
  const { expires_at, counts, missing_files, size_bytes, sha256 } = row;
  return { ...presentProgress(row), expires_at, exported: counts, missing_files, size_bytes, sha256 };
}

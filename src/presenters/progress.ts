import type { Counts } from '../domain/agents/counts.ts';
import { type ErasureStage, keptByErasure } from '../domain/agents/erasure-and-export.ts';
import type { ExportStage } from '../domain/agents/exports.ts';

/** How far work on an agent is that takes its time. Times in milliseconds. */
export interface Progress<Stage> {
  id: string;
  handle: string;
  state: 'in_progress' | 'done';
  stage: Stage;
  begun_at: number;
  done_at: number | null;
}

/** What is kept of it. */
export interface ProgressRow<Stage> {
  id: string;
  handle: string;
  stage: Stage;
  created_at: number;
  done_at: number | null;
}

/** @param row as the repository of an export or an erasure gives it. */
export function presentProgress<Stage>(row: ProgressRow<Stage>): Progress<Stage> {
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

/** How far an erasure is, and its report when it is done. Times in milliseconds. */
export interface ErasureReport extends Progress<ErasureStage> {
  /** How many messages of everybody were looked through for those of the agent. */
  examined: number;
  erased: Counts;
  kept: readonly { what: string; why: string }[];
}

type ErasureRow = ProgressRow<ErasureStage> & { examined: number; counts: Counts };

/** @param row as the repository gives it. */
export function presentErasure(row: ErasureRow): ErasureReport {
  const { examined, counts } = row;
  return { ...presentProgress(row), examined, erased: counts, kept: keptByErasure };
}

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

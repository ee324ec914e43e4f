import { type Counts, type ErasureStage, keptByErasure } from '../domain/agents/erasure-and-export.ts';
import { presentProgress, type Progress, type ProgressRow } from './progress.ts';

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

import type { CardSettings } from '../../presenters/a2a/card.ts';
import type { WorkSettings } from '../../work/unit-of-work.ts';

/** The settings that cards show. */
export function toCardSettings(settings: WorkSettings): CardSettings {
  return {
    public_url: settings.publicUrl,
    wait_seconds: settings.a2aWaitSeconds,
    task_days: settings.taskDays,
    attachment_types: settings.attachmentTypes,
  };
}

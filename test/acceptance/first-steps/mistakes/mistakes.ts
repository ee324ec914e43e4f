import { contents, states } from './contents-and-states.ts';
import { emptyTexts } from './empty-texts.ts';
import { forms } from './forms.ts';
import { ids } from './ids.ts';
import { messageFields } from './message-fields.ts';
import { otherFields } from './other-fields.ts';
import { renamedFields } from './renamed-fields.ts';
import { threadFields } from './thread-fields.ts';
import { times, queries } from './times-and-queries.ts';
import { toolNames } from './tool-names.ts';
import type { Mistake } from './mistake.ts';

/** All usual mistakes of a model. */
export const mistakes: readonly Mistake[] = [
  ...toolNames,
  ...forms,
  ...emptyTexts,
  ...ids,
  ...times,
  ...queries,
  ...renamedFields,
  ...messageFields,
  ...threadFields,
  ...otherFields,
  ...contents,
  ...states,
];

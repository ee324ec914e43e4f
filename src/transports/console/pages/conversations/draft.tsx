import type { ComponentChildren } from 'preact';
import {
  maxAttachmentBytes,
  maxAttachments,
} from '../../../../../packages/core/src/domain/attachments/attachments.ts';
import { DomainError, wrongField } from '../../../../../packages/core/src/domain/errors.ts';
import { createAttachmentOperation } from '../../../../operations/attachments/create-attachment.ts';
import type { ActingAgent } from '../../act-as-agent.ts';
import { errorSentence } from '../../components/field.tsx';
import { createIdempotencyKey } from '../../idempotency-key.ts';
import { useKeptFields } from '../../components/kept-fields.ts';
import type { FieldDefinition } from '../../define/fields.tsx';
import type { PersonVisit } from '../../route.ts';
import { conversationAddress } from './filters.tsx';

const name = 'attachment_ids';

/** The uploaded files of a form that was sent before, each with its id and its name. */
export const readUploads = (form: URLSearchParams): string[] => form.getAll(name);

/** The ids of uploaded files. */
export const toAttachmentIds = (uploads: readonly string[]): string[] =>
  uploads.map((upload) => upload.split(' ')[0] ?? '');

/**
 * Uploads the files of a form as an agent. Each is added to `uploads` at once, so that a form with an error keeps it.
 * @param key of the form, so that a form that is sent twice uploads each file once
 * @throws {DomainError} as the operation; VALIDATION_ERROR for more files than a message can have
 */
export async function uploadFiles(
  { files }: Pick<PersonVisit, 'files'>,
  uploads: string[],
  { call }: Pick<ActingAgent, 'call'>,
  key: string,
): Promise<void> {
  for await (const file of files) {
    if (uploads.length >= maxAttachments)
      throw wrongField(
        name,
        `A message can have at most ${maxAttachments} files; the others were not attached.`,
      );
    const input = { file: { open: () => Promise.resolve(file) } };
    const uploaded = call(createAttachmentOperation, input, `${key}.${uploads.length}`);
    const { id, filename } = await uploaded.catch((error: unknown) => {
      throw nameFile(error, file.filename);
    });
    uploads.push(`${id} ${filename}`);
  }
}

/** A refusal that says which file is refused. */
function nameFile(error: unknown, filename: string): unknown {
  if (!(error instanceof DomainError) || error.status >= 500) return error;
  const { code, message, details } = error;
  // The person went back to the form, and chose another file.
  const isOtherFile = code === 'IDEMPOTENCY_MISMATCH';
  const cause = isOtherFile ? 'this form was already sent with another file; attach it again' : message;
  const reason = `“${filename}”: ${details?.[0]?.message ?? cause}`;
  return new DomainError(code, message, { details: [{ field: name, message: reason }] });
}

interface FileListProps {
  uploads: readonly string[] | undefined;
  error: string | undefined;
}

/** The files of the message: those that are uploaded, which can be left out, and those that the script shows before. */
export function FileList({ uploads = [], error }: FileListProps) {
  const shown = useKeptFields()?.getAll(name) ?? uploads;
  return (
    <div class="file-list">
      {shown.map((upload) => (
        <label key={upload}>
          <input type="checkbox" name={name} value={upload} checked />
          <bdi>{upload.slice(upload.indexOf(' ') + 1)}</bdi>
        </label>
      ))}
      <ul class="chosen-files" aria-label="Files to send" aria-live="polite" />
      <p class="hint" id="file-limits">
        At most {maxAttachments} files of {maxAttachmentBytes / 1024 / 1024} MB each.
      </p>
      {error !== undefined && <p class="error">{errorSentence('Files', error)}</p>}
    </div>
  );
}

/** Chooses files. It comes after all text fields of its form, because the server reads those first. */
export function AttachField() {
  // A new one on each page: a browser keeps the files of one that stays.
  const id = `files-${createIdempotencyKey()}`;
  return (
    <label class="button quiet attach" for={id}>
      <span>Attach</span>
      <input
        id={id}
        type="file"
        name="files"
        multiple
        aria-label="Attach files"
        aria-describedby="file-limits"
        data-max-files={maxAttachments}
        data-max-bytes={maxAttachmentBytes}
      />
    </label>
  );
}

/** The files of a message, in a form as data. */
export const filesField: FieldDefinition<string[]> = {
  read: readUploads,
  show: ({ value, errors }) => (
    <div class="stack">
      <FileList uploads={value} error={errors[name]} />
      <AttachField />
    </div>
  ),
};

/** The id of the form that writes a message. */
export const draftForm = 'composer';

interface ReplyButtonProps {
  thread_id: string;
  /** The message to answer; empty: none. */
  message_id: string;
  class: string;
  children: ComponentChildren;
}

/** Makes the entered message the answer to another one. It sends the form, so that nothing entered is lost. */
export function ReplyButton({ thread_id, message_id, class: className, children }: ReplyButtonProps) {
  return (
    <button
      class={className}
      form={draftForm}
      formAction={`${conversationAddress(thread_id)}/draft#write`}
      formNoValidate
      name="answer"
      value={message_id}
      data-turbo-frame="reply"
    >
      {children}
    </button>
  );
}

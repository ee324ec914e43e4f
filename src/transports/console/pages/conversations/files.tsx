import { essenceOf } from '../../../../../packages/core/src/domain/attachments/file-types.ts';
import type { ConversationPage } from '../../../../services/threads/conversation-page.ts';
import { Badge } from '../../components/content.tsx';
import { sizeText } from '../../components/rows.tsx';

type Attachment = ConversationPage['messages'][number]['attachments'][number];

const scanLabels = {
  clean: { label: 'Checked', tone: 'good' },
  pending: { label: 'Check pending', tone: 'plain' },
  infected: { label: 'Unsafe, removed', tone: 'danger' },
  failed: { label: 'Could not be checked', tone: 'warning' },
} as const satisfies Record<Attachment['scan_status'], object>;

/** Images that browsers show, up to a size that does not slow the page. */
const imageTypes: ReadonlySet<string> = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp']);
const maxImageBytes = 2 * 1024 * 1024;

interface FilesProps {
  /** The path of the page of the conversation. */
  address: string;
  files: readonly Attachment[];
  previews: ConversationPage['previews'];
}

/** The attachments of a message with their scan state. Only clean files have a preview and a link. */
export function Files({ address, files, previews }: FilesProps) {
  if (files.length === 0) return null;
  return (
    <ul class="files" aria-label="Attachments">
      {files.map((file) => (
        <li key={file.id}>
          <File file={file} address={`${address}/files/${file.id}`} />
          <Preview file={file} address={`${address}/files/${file.id}`} text={previews.get(file.id)} />
        </li>
      ))}
    </ul>
  );
}

function File({ file, address }: { file: Attachment; address: string }) {
  const { label, tone } = scanLabels[file.scan_status];
  const name = <bdi>{file.filename}</bdi>;
  return (
    <p class="file">
      {file.scan_status === 'clean' ? (
        <a href={address} data-turbo="false">
          {name}
        </a>
      ) : (
        name
      )}{' '}
      <span class="hint">
        {file.content_type} · {sizeText(file.size_bytes)}
      </span>{' '}
      <Badge tone={tone}>{label}</Badge>
    </p>
  );
}

function Preview({ file, address, text }: { file: Attachment; address: string; text: string | undefined }) {
  if (file.scan_status !== 'clean') return null;
  if (imageTypes.has(essenceOf(file.content_type)) && file.size_bytes <= maxImageBytes)
    return <img class="file-image" src={address} alt={`Preview of ${file.filename}`} loading="lazy" />;
  return text === undefined || text === '' ? null : <pre class="file-text">{text}</pre>;
}

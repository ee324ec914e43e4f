/** The first byte of a text message in one frame: FIN and opcode 1. */
const finalTextFrame = 0x81;
/** Payloads from these sizes on have a length field of two or eight bytes. */
const mediumSize = 126;
const largeSize = 0x10000;

/** Encodes unmasked text frames (RFC 6455, section 5.2) into one buffer, for a single write. The ws library makes two per frame. */
export function encodeTextFrames(texts: readonly string[]): Buffer {
  const sizes = texts.map((text) => Buffer.byteLength(text));
  const frames = Buffer.allocUnsafe(sizes.reduce((total, size) => total + headerSize(size) + size, 0));
  let offset = 0;
  for (const [index, text] of texts.entries()) {
    const size = sizes[index] ?? 0;
    offset = writeHeader(frames, offset, size);
    offset += frames.write(text, offset, size);
  }
  return frames;
}

function headerSize(size: number): number {
  if (size < mediumSize) return 2;
  return size < largeSize ? 4 : 10;
}

/** Returns the offset of the payload. */
function writeHeader(frames: Buffer, offset: number, size: number): number {
  frames.writeUInt8(finalTextFrame, offset);
  if (size < mediumSize) return frames.writeUInt8(size, offset + 1);
  if (size < largeSize) {
    frames.writeUInt8(126, offset + 1);
    return frames.writeUInt16BE(size, offset + 2);
  }
  frames.writeUInt8(127, offset + 1);
  return frames.writeBigUInt64BE(BigInt(size), offset + 2);
}

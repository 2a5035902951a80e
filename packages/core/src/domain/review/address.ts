/** Mail is sent there, so exactly one address, and nothing that could be parsed as several. */
const ADDRESS = /^[^\s@<>(),;:\\"[\]]+@[^\s@<>(),;:\\"[\]]+$/;
const MAX_ADDRESS = 254;

export const isAddress = (text: string): boolean => ADDRESS.test(text) && text.length <= MAX_ADDRESS;

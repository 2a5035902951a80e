declare module "oai-pmh/src/oai-pmh.js" {
  interface Header {
    identifier: string;
    $?: { status?: string };
  }
  export class OaiPmh {
    constructor(baseUrl: string, options?: { retryMin?: number; retryMax?: number });
    listRecords(options: { metadataPrefix: string }): AsyncGenerator<{ header: Header }>;
    listIdentifiers(options: { metadataPrefix: string }): AsyncGenerator<Header>;
  }
}
